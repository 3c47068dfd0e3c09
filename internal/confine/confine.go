// Package confine limits what a process may take, by limits of the kernel. What
// routes have run can ask for any amount of time and memory; only the operating
// system can refuse that to every program. A process sets its limits itself
// before it begins its work: either this program goes on with limits (Self), or
// this program sets them and then becomes the other one (Arguments, Become).
package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
)

// Program is the path of the running program. Its own path may name a later
// version that has replaced it; this is always the one that runs.
const Program = "/proc/self/exe"

// Limits are what a process may take.
type Limits struct {
	Processor uint64 // seconds of a processor's time
	Memory    uint64 // bytes that are private and writable
	ReadOnly  bool   // it writes no file
	File      uint64 // bytes of each file that it writes, 0 for no limit of its own
	Family    Family // by which KillFamily finds what the process has started, 0 for none
}

// Family tells a process and all that it starts, however they leave it, from all
// others of the machine. It is a limit of the kernel that is never reached: children
// have it from their parent, and a process can only lower it.
type Family uint64

// Clan are the families of what one server runs, which Guard finds by it: a number of
// families that follow each other.
type Clan uint64

// sizeOfClan is how many families a clan has.
const sizeOfClan = 1 << 30

// leastFamily is the lowest family, in microseconds that a process of real-time priority
// may take without a pause: 12 days.
const leastFamily = 1 << 40

// NewClan returns a clan whose families no other process of the machine has.
func NewClan() Clan { return leastFamily + Clan(rand.Uint64N(1<<30)*sizeOfClan) }

// Family returns a family of the clan. The numbers of those that run at the same time are
// to differ.
func (c Clan) Family(number uint64) Family { return Family(c) + Family(number%sizeOfClan) }

// guardWord stands in the first of the arguments of Become in place of a limit.
const guardWord = "guard"

// GuardArguments are those with which Become ends the processes of a clan when the process
// with that number, which has started this one, has ended.
func GuardArguments(c Clan, server int) []string {
	return []string{guardWord, strconv.FormatUint(uint64(c), 10), strconv.Itoa(server)}
}

// guardClan reads the arguments of GuardArguments that follow the first, and does so.
func guardClan(args []string) error {
	clan, clanErr := strconv.ParseUint(args[0], 10, 63)
	server, serverErr := strconv.Atoi(args[1])
	if err := errors.Join(clanErr, serverErr); err != nil {
		return err
	}
	return guard(Clan(clan), server)
}

// Arguments are those with which Become makes this program the one at path,
// with the arguments that follow it. They come after what tells the program
// to do so.
func Arguments(l Limits, path string, args []string) []string {
	return append([]string{strconv.FormatUint(l.Processor, 10), strconv.FormatUint(l.Memory, 10), strconv.FormatUint(uint64(l.Family), 10), path}, args...)
}

// NotBecome is the exit status of a process that could not become the program
// that was wanted: what shells say of a program that they cannot start.
const NotBecome = 126

// Become makes this process the program that the arguments of Arguments name,
// with their limits, in the environment env. It returns only if that fails: it
// writes why to stderr and returns the exit status. With the arguments of GuardArguments it
// does what they say, and returns 0 then.
func Become(args, env []string, stderr io.Writer) (status int) {
	err := errors.New("this needs limits and a program")
	if len(args) == 3 && args[0] == guardWord {
		if err = guardClan(args[1:]); err == nil {
			return 0
		}
	}
	if len(args) >= 4 {
		var l Limits
		var processorErr, memoryErr error
		l.Processor, processorErr = strconv.ParseUint(args[0], 10, 63)
		l.Memory, memoryErr = strconv.ParseUint(args[1], 10, 63)
		family, familyErr := strconv.ParseUint(args[2], 10, 63)
		l.Family = Family(family)
		if err = errors.Join(processorErr, memoryErr, familyErr); err == nil {
			err = become(l, args[3], args[3:], env)
		}
	}
	_, _ = fmt.Fprintln(stderr, err) // there is nowhere else to say it
	return NotBecome
}

// Output keeps what is written to it up to a limit, beyond which it errs. It
// does not embed its buffer, which could be filled by other methods.
type Output struct {
	Most int
	Full func() // what is done when the limit is passed, nil for nothing
	kept bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	if o.kept.Len()+len(p) > o.Most {
		if o.Full != nil {
			o.Full()
		}
		return 0, errors.New("too much output")
	}
	return o.kept.Write(p)
}

// Bytes returns what was written.
func (o *Output) Bytes() []byte { return o.kept.Bytes() }
