package expr

import (
	"strings"

	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// CallCost implements cost.ActualCostEstimator: what a call costs that CEL counts as one
// step although it takes long. CEL counts by the overload of a function, of which it
// knows none if it learns the types of the arguments only when it evaluates. nil leaves
// the cost to CEL.
func (m *matchers) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	switch function {
	case overloads.Matches:
		return m.price(args, result)
	case overloads.Size, overloads.TypeConvertInt, overloads.TypeConvertUint, overloads.TypeConvertDouble, overloads.TypeConvertBool,
		overloads.TypeConvertTimestamp, overloads.TypeConvertDuration, overloads.TypeConvertString, overloads.TypeConvertBytes:
		return priceOfText(args)
	case operators.Add:
		return priceOfSum(args)
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return priceOfComparison(args)
	case operators.In:
		return priceOfIn(args)
	case overloads.TimeGetFullYear, overloads.TimeGetMonth, overloads.TimeGetDayOfYear, overloads.TimeGetDate, overloads.TimeGetDayOfMonth,
		overloads.TimeGetDayOfWeek, overloads.TimeGetHours, overloads.TimeGetMinutes, overloads.TimeGetSeconds, overloads.TimeGetMilliseconds:
		return priceOfZone(args, result)
	}
	return nil
}

// scaled is the cost of reading a text, as CEL has it for the functions that it counts
// by length.
func scaled(length int) uint64 { return uint64(length+9) / 10 }

// lengthOf returns the length of a text, ok is false for anything else.
func lengthOf(v ref.Val) (length int, ok bool) {
	switch x := v.(type) {
	case types.String:
		return len(x), true
	case types.Bytes:
		return len(x), true
	}
	return 0, false
}

func priceOfText(args []ref.Val) *uint64 {
	if len(args) != 1 {
		return nil
	}
	if length, ok := lengthOf(args[0]); ok {
		return new(max(scaled(length), 1))
	}
	return nil
}

func priceOfSum(args []ref.Val) *uint64 {
	if len(args) != 2 {
		return nil
	}
	a, isText := lengthOf(args[0])
	b, alsoText := lengthOf(args[1])
	if !isText || !alsoText {
		return nil
	}
	return new(scaled(a + b))
}

// What it costs to find a time zone by its name, which is read from files each time, and to
// find that there is none.
const (
	costOfZone   = 500
	costOfNoZone = 2000
)

func priceOfZone(args []ref.Val, result ref.Val) *uint64 {
	if len(args) != 2 {
		return nil
	}
	name, ok := args[1].(types.String)
	if !ok || name == "" || name == "UTC" || strings.Contains(string(name), ":") {
		return nil
	}
	if types.IsError(result) {
		return new(costOfNoZone + scaled(len(name)))
	}
	return new(costOfZone + scaled(len(name)))
}

// priceOfComparison leaves values to CEL that are neither texts nor lists or objects. Of those
// CEL counts the elements only, not what is in them.
func priceOfComparison(args []ref.Val) *uint64 {
	if len(args) != 2 {
		return nil
	}
	a, isText := lengthOf(args[0])
	b, alsoText := lengthOf(args[1])
	switch {
	case isText && alsoText:
		return new(scaled(min(a, b)))
	case isText || alsoText:
		return new(uint64(1))
	case isAggregate(args[0]) && isAggregate(args[1]):
		return new(min(weight(args[0]), weight(args[1])))
	}
	return nil
}

// priceOfIn counts what is compared with each element of a list.
func priceOfIn(args []ref.Val) *uint64 {
	if len(args) != 2 {
		return nil
	}
	list, ok := args[1].(traits.Lister)
	if !ok {
		return nil
	}
	size, _ := list.Size().(types.Int)
	if length, isText := lengthOf(args[0]); isText {
		return new(uint64(size) * max(scaled(length), 1))
	} else if isAggregate(args[0]) {
		return new(max(uint64(size), weight(list)))
	}
	return new(uint64(size))
}

func isAggregate(v ref.Val) bool {
	switch v.(type) {
	case traits.Lister, traits.Mapper:
		return true
	}
	return false
}

// weight is what it costs to compare all of a value, or somewhat more than an evaluation may
// cost: what is beyond that is not looked at.
func weight(v ref.Val) uint64 {
	const most = MaxCost + 1
	w := weigher{left: most}
	w.weigh(v)
	return uint64(most - max(w.left, 0))
}

type weigher struct{ left int }

func (w *weigher) weigh(v ref.Val) {
	const costOfValue = 3 // it is made of a document first
	w.left -= costOfValue
	if length, ok := lengthOf(v); ok {
		w.left -= length / 10
		return
	}
	switch x := v.(type) {
	case traits.Lister:
		for it := x.Iterator(); w.left > 0 && it.HasNext() == types.True; {
			w.weigh(it.Next())
		}
	case traits.Mapper:
		for it := x.Iterator(); w.left > 0 && it.HasNext() == types.True; {
			key := it.Next()
			w.weigh(key)
			if value, found := x.Find(key); found {
				w.weigh(value)
			}
		}
	}
}

// affordable has comparisons refuse what costs more than an evaluation may before they begin:
// CEL adds the cost only when they are done.
func affordable(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok || len(call.Args()) != 2 {
		return i, nil
	}
	var compare func(a, b ref.Val) ref.Val
	switch call.Function() {
	case operators.Equals:
		compare = types.Equal
	case operators.NotEquals:
		compare = func(a, b ref.Val) ref.Val { return types.Bool(types.Equal(a, b) != types.True) }
	default:
		return i, nil
	}
	for _, arg := range call.Args() {
		if c, literal := arg.(interpreter.InterpretableConst); literal && !isAggregate(c.Value()) {
			return i, nil
		}
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(args ...ref.Val) ref.Val {
		if cost := priceOfComparison(args); cost != nil && *cost > MaxCost {
			return types.NewErr("the values are too large to be compared")
		}
		return compare(args[0], args[1])
	}), nil
}
