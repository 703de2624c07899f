package middleware

// Rates and their text form, such as 100/1m. ratelimit.go enforces them.

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Rate limits events to Quota per Window. The zero value means no limit.
type Rate struct {
	Quota  int           // from 1 to 1,000,000,000
	Window time.Duration // whole seconds, at most 1000h
}

// These limits keep the arithmetic within int64 and the header values within RFC 9651.
const (
	maxQuota  = 1_000_000_000
	maxWindow = 1000 * time.Hour
)

var errRate = errors.New("middleware: invalid rate; use QUOTA/WINDOW such as 100/1m or 10/s, or off")

// ParseRate parses a rate such as "100/1m": a quota, a slash and a window in the format of
// [time.ParseDuration]. A unit alone means one, as in "10/s". The window is a whole number of
// seconds. "" and "off" return the zero Rate.
func ParseRate(s string) (Rate, error) {
	if s == "" || s == "off" {
		return Rate{}, nil
	}
	times, span, ok := strings.Cut(s, "/")
	quota, err := strconv.Atoi(times)
	// Atoi and ParseDuration accept signs
	if !ok || err != nil || span == "" || isSign(times[0]) || isSign(span[0]) {
		return Rate{}, errRate
	}
	if 'a' <= span[0] && span[0] <= 'z' {
		span = "1" + span
	}
	window, err := time.ParseDuration(span)
	r := Rate{Quota: quota, Window: window}
	if err != nil || !r.valid() {
		return Rate{}, errRate
	}
	return r, nil
}

func isSign(c byte) bool { return c == '+' || c == '-' }

func (r Rate) valid() bool {
	return 1 <= r.Quota && r.Quota <= maxQuota && time.Second <= r.Window && r.Window <= maxWindow &&
		r.Window%time.Second == 0
}

// String returns the rate in the format of [ParseRate], with the window in its largest whole unit:
// "100/1m". The zero Rate is "off".
func (r Rate) String() string {
	if r == (Rate{}) {
		return "off"
	}
	unit, name := time.Second, "s"
	switch {
	case r.Window%time.Hour == 0:
		unit, name = time.Hour, "h"
	case r.Window%time.Minute == 0:
		unit, name = time.Minute, "m"
	}
	return strconv.Itoa(r.Quota) + "/" + strconv.FormatInt(int64(r.Window/unit), 10) + name
}
