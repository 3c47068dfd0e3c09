package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"flowdrive/server"
)

// burstSeconds is for how many seconds' worth of requests there is room at once, if it
// is not said.
const burstSeconds = 20

// mostRate bounds the numbers of a rate.
const mostRate = 1_000_000_000

// rateFlag is a rate as a flag has it: "200/s", "200/s,4000" or "off".
type rateFlag server.Rate

// Set reads the flag's text.
func (r *rateFlag) Set(text string) error {
	if text == "off" || text == "0" {
		*r = rateFlag{}
		return nil
	}
	wrong := errors.New(`must be a rate above zero, such as 200/s, 200/s,4000 with 4000 at once, or "off"`)
	perSecond, burst, isSaid := strings.Cut(text, ",")
	n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(perSecond), "/s"), 64)
	if err != nil || !(0 < n && n <= mostRate) {
		return wrong
	}
	atOnce := max(1, int(math.Ceil(n*burstSeconds)))
	if isSaid {
		if atOnce, err = strconv.Atoi(strings.TrimSpace(burst)); err != nil || atOnce < 1 || atOnce > mostRate {
			return wrong
		}
	}
	*r = rateFlag{PerSecond: n, Burst: atOnce}
	return nil
}

// String returns the rate as Set reads it.
func (r *rateFlag) String() string {
	if r.PerSecond == 0 {
		return "off"
	}
	return fmt.Sprintf("%s/s,%d", strconv.FormatFloat(r.PerSecond, 'f', -1, 64), r.Burst)
}

// Type names the kind of value in the help.
func (r *rateFlag) Type() string { return "rate" }
