package route

import (
	"slices"
	"strconv"
	"time"

	"flowdrive/internal/document"
	"flowdrive/internal/errs"
)

// Retry says when a delivery that failed is tried again
// (docs/contract/routes.md#trying-again).
type Retry struct {
	Times   int64         // further attempts after the first
	Every   time.Duration // the first pause
	Backoff float64       // what each pause is of the one before, from 1
	On      []string      // kinds of failures, exit statuses and HTTP statuses; nil: what the verb has by itself
}

// Bounds of pauses, and their defaults.
const (
	defaultRetryEvery = time.Minute
	leastRetryEvery   = time.Second
	mostRetryEvery    = 7 * 24 * time.Hour
)

// RetryInterrupted stands in Retry.On for an attempt during which the server has ended.
const RetryInterrupted = "interrupted"

// retryKinds are the kinds of failures that can happen to a step, and that on can name. A
// function of the program around may fail in any way.
func retryKinds(verb Verb) []string {
	switch verb {
	case StepExec:
		return []string{"exit", "timeout", "signal", RetryInterrupted}
	case StepHTTP:
		return []string{"status", "timeout", "network"}
	case StepMail:
		return []string{"timeout", "network"}
	default:
		return []string{"exit", "timeout", "signal", "status", "network", RetryInterrupted}
	}
}

// retry reads when a step is tried again, nil for what its verb has by itself.
func (c *compiler) retry(verb Verb, v document.Value) *Retry {
	if !isKind(v, document.Object) {
		return nil
	}
	r := &Retry{Every: defaultRetryEvery, Backoff: 1}
	r.Times, _ = whole(v.Get("times")) // the schema has judged it; 0 is not positive
	if every := v.Get("every"); every.Given() {
		if d := c.duration(every); d != nil {
			if r.Every = d.Exact; r.Every < leastRetryEvery || r.Every > mostRetryEvery {
				every.Fail(errs.CodeRange, "must be from one second to seven days")
			}
		}
	}
	if n := v.Get("backoff"); isKind(n, document.Number) {
		r.Backoff, _ = strconv.ParseFloat(n.Node.Text, 64) // the schema has judged it
	}
	on := v.Get("on")
	if !isKind(on, document.List) {
		return r
	}
	for i := range on.Node.Items {
		if text, ok := retryCause(verb, on.Item(i)); ok {
			r.On = append(r.On, text)
		}
	}
	return r
}

// retryCause reads one thing after which a step is tried again.
func retryCause(verb Verb, v document.Value) (string, bool) {
	switch v.Node.Kind {
	case document.String:
		kinds := retryKinds(verb)
		if slices.Contains(kinds, v.Node.Text) {
			return v.Node.Text, true
		}
		if slices.Contains(retryKinds(StepCall), v.Node.Text) {
			v.Fail(errs.CodeRange, "must be %s: %q never happens to the step %s, or has no effect on it", alternatives(kinds), v.Node.Text, verb)
			return v.Node.Text, true // so that a stored route goes on as it was meant
		}
		v.Fail(errs.CodeRange, "must be %s, or a status as a number, not %q%s", alternatives(kinds), clip(v.Node.Text), document.Hint(v.Node.Text, kinds))
	case document.Number:
		if verb == StepMail {
			v.Fail(errs.CodeRange, "must be %s: a mail has no status", alternatives(retryKinds(verb)))
			return v.Node.Text, true
		}
		least, most, what := int64(1), int64(255), "an exit status"
		if verb == StepHTTP {
			least, most, what = 300, 599, "a status of HTTP"
		}
		if n, ok := whole(v); ok && n >= least && n <= most {
			return strconv.FormatInt(n, 10), true
		}
		v.Fail(errs.CodeRange, "must be %s from %d to %d, not %s", what, least, most, clip(v.Node.Text))
	default: // the schema has judged it
	}
	return "", false
}
