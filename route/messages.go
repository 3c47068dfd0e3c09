package route

// writesTo returns the label of the message that the step writes, "" for none; answer
// says that it is the answer of something outside.
func (s *Step) writesTo() (label string, answer bool) {
	switch {
	case s.Message != nil:
		return s.Message.Label, false
	case s.Filter != nil:
		return s.Filter.To, false
	case s.Table != nil:
		return s.Table.To, false
	case s.Outside != nil:
		return s.Outside.Into, true
	}
	return "", false
}

// Writes reports whether a step of the route writes the message with that label. answers
// says that the answers of what is outside count, too.
func (r *Route) Writes(label string, answers bool) bool {
	return r.hasStep(func(s *Step) bool {
		to, answer := s.writesTo()
		return to == label && (answers || !answer)
	})
}
