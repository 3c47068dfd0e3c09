package server

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"flowdrive/internal/errs"
)

// logIn tries credentials and returns who they are and what went wrong.
func (g *guard) logIn(name, password string, from netip.Addr) (string, errs.Kind) {
	p, err := g.Authenticate(basic(name, password), from)
	return string(p.Name), errs.KindOf(err)
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	g := newGuard()
	tests := []struct {
		name, header string
		user         string
		kind         errs.Kind
	}{
		{"right", basic("sam", "secret"), "sam", ""},
		{"behind the computer of Windows", basic(`PC\sam`, "secret"), "sam", ""},
		{"nobody behind the computer", basic(`PC\`, "secret"), "", errs.LogIn},
		{"another case", basic("SAM", "secret"), "sam", ""},
		{"scheme in another case", "bAsIc" + basic("sam", "secret")[5:], "sam", ""},
		{"colons in the password", basic("ann", "pässword:with colon"), "ann", ""},
		{"decomposed letters", basic("ann", "pa\u0308ssword:with colon"), "ann", ""},
		{"wrong", basic("sam", "Secret"), "", errs.LogIn},
		{"unknown user", basic("eve", "secret"), "", errs.LogIn},
		{"disabled", basic("bob", "secret"), "", errs.LogIn},
		{"no password set", basic("none", "x"), "", errs.LogIn},
		{"no password given", basic("sam", ""), "", errs.LogIn},
		{"nothing", "", "", errs.LogIn},
		{"another scheme", "Bearer abc", "", errs.LogIn},
		{"no base64", "Basic §§§", "", errs.LogIn},
		{"no colon", "Basic " + base64.StdEncoding.EncodeToString([]byte("sam")), "", errs.LogIn},
		{"no user", basic("", "secret"), "", errs.LogIn},
		{"Latin-1", basic("ann", "p\xe4ssword:with colon"), "", errs.LogIn},
		{"control character", basic("sam", "sec\x00ret"), "", errs.LogIn},
		{"too long a password", basic("sam", strings.Repeat("x", MaxPassword+1)), "", errs.LogIn},
		{"too long a name", basic(strings.Repeat("x", longestName+1), "x"), "", errs.LogIn},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			from := netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})
			p, err := g.Authenticate(test.header, from)
			if string(p.Name) != test.user || errs.KindOf(err) != test.kind {
				t.Errorf("got %q, %v; want %q, kind %q", p.Name, err, test.user, test.kind)
			}
		})
	}
}

// What is told about a failed log-in does not depend on who exists.
func TestFailedLogInsLookAlike(t *testing.T) {
	t.Parallel()
	g := newGuard()
	want := ""
	for _, name := range []string{"sam", "eve", "bob", "none"} {
		before := g.hashes.Load()
		_, err := g.Authenticate(basic(name, "wrong"), home)
		if want == "" {
			want = err.Error()
		}
		if err.Error() != want {
			t.Errorf("%s: %v; want %s", name, err, want)
		}
		if n := g.hashes.Load() - before; n != 1 {
			t.Errorf("%s: %d hashes; want 1", name, n)
		}
	}
	if h := NewAuthenticator(newAccounts(), g.clock.now, RecommendedCosts()).dummy; h.Costs != RecommendedCosts() {
		t.Errorf("an unknown user costs %+v; want %+v", h.Costs, RecommendedCosts())
	}
}

func TestCredentialCache(t *testing.T) {
	t.Parallel()
	g := newGuard()
	try := func(what, password string, from netip.Addr, kind errs.Kind, hashes int64) {
		t.Helper()
		before := g.hashes.Load()
		if _, got := g.logIn("sam", password, from); got != kind {
			t.Errorf("%s: kind %q; want %q", what, got, kind)
		}
		if n := g.hashes.Load() - before; n != hashes {
			t.Errorf("%s: %d hashes; want %d", what, n, hashes)
		}
	}
	try("the first time", "secret", home, "", 1)
	try("again", "secret", home, "", 0)
	try("another password", "wrong", home, errs.LogIn, 1)
	try("a failure is not remembered", "wrong", home, errs.LogIn, 1)
	try("from elsewhere", "secret", abroad, "", 1)
	g.clock.advance(credentialLife - 1)
	try("just before its end", "secret", home, "", 0)
	g.clock.advance(1)
	try("after its end", "secret", home, "", 1)

	g.accounts.set("sam", func(u *account) { u.hash = cheapHash("changed") })
	try("the old password after a change", "secret", home, errs.LogIn, 1)
	try("the new password", "changed", home, "", 1)
	g.accounts.set("sam", func(u *account) { u.disabled = true })
	try("disabled", "changed", home, errs.LogIn, 1)
	g.accounts.set("sam", func(u *account) { u.disabled = false })
	try("enabled again", "changed", home, "", 0)
}

func TestCredentialCacheIsBounded(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	c := newCredentials(clock.now)
	keys := make([]credential, 0, mostCredentials+10)
	for i := range cap(keys) {
		key := c.key(pairOf(home, fmt.Sprint(i)), "p", "h")
		keys = append(keys, key)
		c.add(key)
		c.add(key)
	}
	if n := c.until.Len(); n != mostCredentials {
		t.Errorf("%d credentials; want %d", n, mostCredentials)
	}
	if c.has(keys[0]) || !c.has(keys[len(keys)-1]) {
		t.Error("the wrong ones were dropped")
	}
	clock.advance(credentialLife)
	if c.has(keys[len(keys)-1]) {
		t.Error("a credential outlives its end")
	}
}

// No two inputs share a key because their parts run together.
func TestCredentialKeys(t *testing.T) {
	t.Parallel()
	c := newCredentials(newTestClock().now)
	seen := map[credential]string{}
	for _, p := range [][3]string{{"a", "b", "c"}, {"ab", "", "c"}, {"", "ab", "c"}, {"a", "bc", ""}, {"a", "", "bc"}, {"", "", "abc"}} {
		for _, addr := range []netip.Addr{home, abroad, {}} {
			key := c.key(pairOf(addr, p[0]), p[1], p[2])
			if other, twice := seen[key]; twice {
				t.Errorf("%q from %v has the key of %s", p, addr, other)
			}
			seen[key] = fmt.Sprintf("%q from %v", p, addr)
			if c.key(pairOf(addr, p[0]), p[1], p[2]) != key {
				t.Errorf("%q has two keys", p)
			}
		}
	}
	if other := newCredentials(newTestClock().now); other.key(pairOf(home, "a"), "b", "c") == c.key(pairOf(home, "a"), "b", "c") {
		t.Error("two processes have the same key")
	}
}

// A storm of requests with the same credentials costs one hash.
func TestStormCostsOneHash(t *testing.T) {
	t.Parallel()
	g := newGuard()
	derive := g.derive
	entered, release := make(chan struct{}), make(chan struct{})
	enter := sync.OnceFunc(func() { close(entered) })
	g.derive = func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte {
		enter()
		<-release
		return derive(password, salt, time, memory, threads, keyLen)
	}
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if user, kind := g.logIn("sam", "secret", home); user != "sam" {
				t.Errorf("kind %q; want sam", kind)
			}
		})
	}
	<-entered
	close(release)
	all.Wait()
	if n := g.hashes.Load(); n != 1 {
		t.Errorf("200 log-ins cost %d hashes; want 1", n)
	}
}

// Failures are not remembered, but few of them are hashed.
func TestWrongPasswordAgainAndAgain(t *testing.T) {
	t.Parallel()
	g := newGuard()
	for i := range 200 {
		_, kind := g.logIn("sam", "wrong", home)
		if want := map[bool]errs.Kind{true: errs.LogIn, false: errs.TooMany}[i < freeFailures]; kind != want {
			t.Fatalf("failure %d: kind %q; want %q", i+1, kind, want)
		}
	}
	if n := g.hashes.Load(); n != freeFailures+1 {
		t.Errorf("200 wrong log-ins cost %d hashes; want %d", n, freeFailures+1)
	}
}

// Guesses made at once get no further than guesses made in turn, but for
// those that are being hashed already.
func TestParallelGuesses(t *testing.T) {
	t.Parallel()
	g := newGuard()
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() { g.logIn("sam", fmt.Sprint("guess", i), home) })
	}
	all.Wait()
	if n, most := g.hashes.Load(), int64(freeFailures+1+cap(g.slots)); n > most {
		t.Errorf("%d guesses were hashed; want at most %d", n, most)
	}
}

func TestTooManyWait(t *testing.T) {
	t.Parallel()
	g := newGuard()
	g.waiting.Store(mostWaiting)
	if _, kind := g.logIn("sam", "secret", home); kind != errs.Unavailable {
		t.Errorf("kind %q; want unavailable", kind)
	}
	g.waiting.Store(0)
	if user, kind := g.logIn("sam", "secret", home); user != "sam" {
		t.Errorf("kind %q; want sam", kind)
	}
	if n := g.waiting.Load(); n != 0 {
		t.Errorf("%d are waiting still", n)
	}
}

// retryAfter tries a wrong password and returns for how long one must wait.
func (g *guard) retryAfter(t *testing.T, name string, from netip.Addr) time.Duration {
	t.Helper()
	_, err := g.Authenticate(basic(name, "wrong"), from)
	e, ok := err.(*errs.Error) //nolint:errorlint // it is returned as it is
	if !ok {
		t.Fatalf("%s: %v", name, err)
	}
	if e.Kind == errs.LogIn {
		return 0
	}
	seconds, ok := e.Extra[errs.ExtraRetryAfter].(int)
	if e.Kind != errs.TooMany || !ok || seconds < 1 {
		t.Fatalf("%s: %v with %v", name, e, e.Extra)
	}
	return time.Duration(seconds) * time.Second
}

func TestThrottlePerAddressAndUser(t *testing.T) {
	t.Parallel()
	g := newGuard()
	for i := range freeFailures {
		if wait := g.retryAfter(t, "sam", home); wait != 0 {
			t.Fatalf("failure %d must wait %v", i+1, wait)
		}
	}
	want := []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900}
	for _, seconds := range want {
		wait := g.retryAfter(t, "sam", home)
		if wait != seconds*time.Second {
			t.Fatalf("must wait %v; want %v s", wait, int(seconds))
		}
		hashes := g.hashes.Load()
		if _, kind := g.logIn("Sam", "secret", home); kind != errs.TooMany {
			t.Errorf("the right password during the wait: kind %q; want too-many", kind)
		}
		g.clock.advance(wait - time.Millisecond)
		if _, kind := g.logIn("sam", "secret", home); kind != errs.TooMany {
			t.Errorf("the right password just before the end: kind %q; want too-many", kind)
		}
		if g.hashes.Load() != hashes {
			t.Error("a refused log-in was hashed")
		}
		if user, _ := g.logIn("sam", "secret", abroad); user != "sam" {
			t.Error("the same user is refused elsewhere")
		}
		if user, _ := g.logIn("ann", "pässword:with colon", home); user != "ann" {
			t.Error("another user is refused at the same address")
		}
		g.clock.advance(time.Millisecond)
	}
	if user, kind := g.logIn("sam", "secret", home); user != "sam" {
		t.Fatalf("the right password after the wait: kind %q", kind)
	}
	if wait := g.retryAfter(t, "sam", home); wait != 0 {
		t.Errorf("the first failure after a success must wait %v", wait)
	}
}

func TestThrottlePerAddress(t *testing.T) {
	t.Parallel()
	g := newGuard()
	if user, _ := g.logIn("sam", "secret", home); user != "sam" {
		t.Fatal("sam cannot log in")
	}
	for i := range freeFailures {
		if wait := g.retryAfter(t, fmt.Sprint("guess", i), home); wait != 0 {
			t.Fatalf("user %d must wait %v", i+1, wait)
		}
	}
	if wait := g.retryAfter(t, "guess5", home); wait != time.Second {
		t.Errorf("the fifth user must wait %v; want 1 s", wait)
	}
	if _, kind := g.logIn("ann", "pässword:with colon", home); kind != errs.TooMany {
		t.Errorf("somebody new at that address: kind %q; want too-many", kind)
	}
	g.clock.advance(2 * credentialLife)
	if user, kind := g.logIn("sam", "secret", home); user != "sam" {
		t.Errorf("who has logged in there before: kind %q", kind)
	}
	if wait := g.retryAfter(t, "guess6", home); wait != 2*time.Second {
		t.Errorf("the sixth user must wait %v; want 2 s", wait)
	}
	if wait := g.retryAfter(t, "guess7", abroad); wait != 0 {
		t.Errorf("elsewhere one must wait %v", wait)
	}
}

// A device with an old password is refused for ever, but keeps nobody else
// at its address from logging in.
func TestThrottleOfAStaleDevice(t *testing.T) {
	t.Parallel()
	g := newGuard()
	for range 50 {
		g.clock.advance(max(g.retryAfter(t, "sam", home), time.Second))
		if _, kind := g.logIn("ann", "wrong too", abroad); kind == "" {
			t.Fatal("a wrong password logged in")
		}
	}
	if user, kind := g.logIn("ann", "pässword:with colon", home); user != "ann" {
		t.Errorf("ann at the same address: kind %q", kind)
	}
}

func TestThrottleForgets(t *testing.T) {
	t.Parallel()
	g := newGuard()
	for range freeFailures {
		g.retryAfter(t, "sam", home)
	}
	g.clock.advance(forgetAfter + 1)
	if wait := g.retryAfter(t, "sam", home); wait != 0 {
		t.Errorf("a failure an hour later must wait %v", wait)
	}
}

// One IPv6 network is one address; memory has a bound.
func TestThrottleNetworksAndMemory(t *testing.T) {
	t.Parallel()
	g := newGuard()
	for i := range freeFailures {
		g.retryAfter(t, "sam", netip.MustParseAddr(fmt.Sprintf("2001:db8::%d", i+1)))
	}
	if wait := g.retryAfter(t, "sam", netip.MustParseAddr("2001:db8::ffff:1")); wait == 0 {
		t.Error("another address of the same network does not wait")
	}
	if wait := g.retryAfter(t, "sam", netip.MustParseAddr("2001:db8:0:1::1")); wait != 0 {
		t.Error("another network waits")
	}
	for i := range mostPairs + 100 {
		p := pairOf(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), "eve")
		g.throttle.fail(p)
		g.throttle.succeed(p)
		g.throttle.fail(p)
	}
	for name, n := range map[string]int{
		"pairs": g.throttle.pairs.Len(), "addresses": g.throttle.addrs.Len(), "good": g.throttle.good.Len(),
	} {
		if n > mostPairs {
			t.Errorf("%d %s are remembered; want at most %d", n, name, mostPairs)
		}
	}
}

func TestHashPassword(t *testing.T) {
	t.Parallel()
	encoded, err := RecommendedCosts().Hash("pässword")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(encoded, "$argon2id$v=19$m=7168,t=5,p=1$") {
		t.Errorf("Hash = %s", encoded)
	}
	h, ok := parseHash(encoded)
	if !ok || !h.matches(argon2.IDKey, "pässword") || !h.matches(argon2.IDKey, "pa\u0308ssword") || h.matches(argon2.IDKey, "passwort") {
		t.Error("the hash does not match its password, or matches another")
	}
	if again, err := RecommendedCosts().Hash("pässword"); err != nil || again == encoded {
		t.Errorf("two hashes have one salt: %v", err)
	}
	for _, password := range []string{"", strings.Repeat("x", MaxPassword+1), "a\nb", "a\x7f", "\xff"} {
		if _, err := RecommendedCosts().Hash(password); !errs.Is(err, errs.Invalid) {
			t.Errorf("Hash(%.10q): %v; want invalid", password, err)
		}
	}
}

func TestParseHashRefuses(t *testing.T) {
	t.Parallel()
	good := cheapHash("x")
	if _, ok := parseHash(good); !ok {
		t.Fatalf("%s is refused", good)
	}
	for _, change := range [][2]string{
		{"argon2id", "argon2i"},
		{"v=19", "v=16"},
		{"m=8", "m=7"},
		{"m=8", "m=1048577"},
		{"m=8", "m=-8"},
		{"m=8", "m=99999999999"},
		{"t=1", "t=0"},
		{"t=1", "t=65"},
		{"p=1", "p=2"},
		{"p=1", "p=65"},
		{"m=8,t=1", "t=1,m=8"},
		{"m=8,", ""},
		{"$m", "$$m"},
		{good[len(good)-20:], ""},
		{good[len(good)-1:], "§"},
		{"$argon", "argon"},
	} {
		if encoded := strings.Replace(good, change[0], change[1], 1); encoded == good {
			t.Errorf("%q changed nothing", change)
		} else if _, ok := parseHash(encoded); ok {
			t.Errorf("parseHash(%q) is taken", encoded)
		}
	}
}

func FuzzParseBasic(f *testing.F) {
	for _, seed := range []string{"", "Basic", "Basic ", basic("sam", "secret"), basic("ä", "ö:ü"), basic("", ""), "basic  c2FtOnNlY3JldA==", "Basic c2Ft", "Digest username=\"x\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		name, password, ok := parseBasic(header)
		if !ok {
			return
		}
		if name == "" || strings.Contains(name, ":") || !sendable(name) || !sendable(password) || len(password) > MaxPassword {
			t.Errorf("parseBasic(%q) = %q, %q", header, name, password)
		}
		if n, p, ok := parseBasic(basic(name, password)); !ok || n != name || p != password {
			t.Errorf("%q, %q came back as %q, %q, %t", name, password, n, p, ok)
		}
	})
}

func FuzzParseHash(f *testing.F) {
	for _, seed := range []string{"", "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$", cheapHash("x"), "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		h, ok := parseHash(encoded)
		if !ok {
			return
		}
		if h.Memory > 1<<20 || h.Time > 64 || h.Threads > 64 || len(h.key) < keyLength {
			t.Errorf("parseHash(%q) = %+v", encoded, h)
		}
		if again, ok := parseHash(h.String()); !ok || again.String() != h.String() {
			t.Errorf("%q came back as %q", encoded, h)
		}
	})
}
