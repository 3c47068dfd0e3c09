package notice_test

import (
	"strings"
	"testing"
	"time"

	"flowdrive/engine/machine"
	"flowdrive/engine/notice"
	"flowdrive/store"
)

// TestWishes: when a mail is sent, by what its recipient wants
// (docs/contract/drive.md#mejson).
func TestWishes(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	night := &store.QuietHours{From: "20:00", To: "07:00"}
	for _, tt := range []struct {
		name   string
		wishes store.MailWishes
		kind   notice.Kind
		now    string
		want   string
	}{
		{"nothing is wished", store.MailWishes{}, notice.KindTask, "2012-11-09T12:00:00Z", "at once"},
		{"another kind", store.MailWishes{Kinds: []string{"task"}}, notice.KindAct, "2012-11-09T12:00:00Z", "never"},
		{"no kind", store.MailWishes{Kinds: []string{}}, notice.KindTask, "2012-11-09T12:00:00Z", "never"},
		{"a digest", store.MailWishes{Digest: "07:30"}, notice.KindTask, "2012-11-09T12:00:00Z", "2012-11-10T06:30:00Z digest"},
		{"a digest, in the night", store.MailWishes{Digest: "07:30"}, notice.KindTask, "2012-11-09T06:29:59Z", "2012-11-09T06:30:00Z digest"},
		{"a digest, at its time", store.MailWishes{Digest: "07:30"}, notice.KindTask, "2012-11-09T06:30:00Z", "2012-11-10T06:30:00Z digest"},
		{"a digest after clocks were put back", store.MailWishes{Digest: "07:30"}, notice.KindTask, "2012-10-27T12:00:00Z", "2012-10-28T06:30:00Z digest"},
		{"a digest at a time that is there twice", store.MailWishes{Digest: "02:30"}, notice.KindTask, "2012-10-27T12:00:00Z", "2012-10-28T01:30:00Z digest"},
		{"a digest between the two", store.MailWishes{Digest: "02:30"}, notice.KindTask, "2012-10-28T01:30:00Z", "2012-10-29T01:30:00Z digest"},
		{"a digest at a time that is not there", store.MailWishes{Digest: "02:30"}, notice.KindTask, "2012-03-24T12:00:00Z", "2012-03-25T01:30:00Z digest"},
		{"in spite of a digest", store.MailWishes{Kinds: []string{"failure:now"}, Digest: "07:30", Quiet: night}, notice.KindFailure, "2012-11-09T22:00:00Z", "at once"},
		{"by day", store.MailWishes{Quiet: night}, notice.KindFailure, "2012-11-09T18:59:00Z", "at once"},
		{"in quiet hours", store.MailWishes{Quiet: night}, notice.KindFailure, "2012-11-09T19:00:00Z", "2012-11-10T06:00:00Z"},
		{"after midnight", store.MailWishes{Quiet: night}, notice.KindFailure, "2012-11-10T05:59:00Z", "2012-11-10T06:00:00Z"},
		{"at the end of quiet hours", store.MailWishes{Quiet: night}, notice.KindFailure, "2012-11-10T06:00:00Z", "at once"},
		{"quiet hours of a day", store.MailWishes{Quiet: &store.QuietHours{From: "12:00", To: "13:00"}}, notice.KindTask, "2012-11-09T11:30:00Z", "2012-11-09T12:00:00Z"},
		{"the first end of quiet hours", store.MailWishes{Quiet: &store.QuietHours{From: "02:00", To: "02:30"}}, notice.KindTask, "2012-10-28T00:10:00Z", "2012-10-28T00:30:00Z"},
		{"the second end of quiet hours", store.MailWishes{Quiet: &store.QuietHours{From: "02:00", To: "02:30"}}, notice.KindTask, "2012-10-28T01:10:00Z", "2012-10-28T01:30:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		wish := notice.WishFor(tt.wishes, tt.kind, now, berlin)
		got := wish.At.Format(time.RFC3339)
		switch {
		case wish.Never:
			got = "never"
		case wish.At.IsZero():
			got = "at once"
		case wish.Digest:
			got += " digest"
		}
		want(t, tt.name, got, tt.want)
	}
}

// TestDigest: several mails in one, with the times of the recipient's zone.
func TestDigest(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	mail := notice.Digest([]notice.Digested{
		{noon(), &machine.Mail{Subject: "To do: Sign (One)", Text: "one\n"}, 0},
		{noon().Add(time.Hour), &machine.Mail{Subject: "Approved: Two", Text: "two\n"}, 0},
	}, &notice.Person{Zone: berlin})
	want(t, "subject", mail.Subject, "2 notices: Approved: Two")
	line := strings.Repeat("-", 68)
	want(t, "text", mail.Text, `2 notices since your last digest:

  2012-11-09 13:34 Europe/Berlin  To do: Sign (One)
  2012-11-09 14:34 Europe/Berlin  Approved: Two

`+line+`
To do: Sign (One), 2012-11-09 13:34 Europe/Berlin

one

`+line+`
Approved: Two, 2012-11-09 14:34 Europe/Berlin

two
`)
}

// TestDigestOfManyCases: what is told of several cases in the same words is one line, which
// names the cases.
func TestDigestOfManyCases(t *testing.T) {
	t.Parallel()
	var mails []notice.Digested
	for i := range 25 {
		mails = append(mails, notice.Digested{Time: noon().Add(time.Duration(i) * time.Minute), Mail: &machine.Mail{Subject: "Still nobody can do it: Sign (Hourly)"}, Case: int64(i + 1)})
	}
	mails = append(mails, notice.Digested{Time: noon().Add(time.Hour), Mail: &machine.Mail{Subject: "Approved: Two"}, Case: 30})
	_, lines, _ := strings.Cut(notice.StillWrong(mails, new(notice.Person)).Text, "\n\n")
	lines, _, _ = strings.Cut(lines, "\n\n")
	want(t, "lines", lines, `  2012-11-09 12:58 UTC  Still nobody can do it: Sign (Hourly), 25 cases: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 5 more
  2012-11-09 13:34 UTC  Approved: Two`)
}
