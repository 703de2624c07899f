package middleware

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Rate is how often something may be done: Quota times in a Window. The zero value is no limit.
type Rate struct {
	Quota  int           // 1 to a thousand millions
	Window time.Duration // whole seconds, up to 1000 hours
}

// Bounds of a Rate, by which its arithmetic stays within an int64 and its fields within RFC 9651.
const (
	maxQuota  = 1_000_000_000
	maxWindow = 1000 * time.Hour
)

var errRate = errors.New("a rate is a quota and a window of whole seconds, such as 100/1m, 10/s or off")

// ParseRate reads a rate, such as "100/1m": a quota, a slash, and a window as [time.ParseDuration] reads it, of which a
// unit alone means one ("10/s"). The window is whole seconds, and at least one. "" and "off" are no limit.
func ParseRate(s string) (Rate, error) {
	if s == "" || s == "off" {
		return Rate{}, nil
	}
	times, span, ok := strings.Cut(s, "/")
	quota, err := strconv.Atoi(times)
	if !ok || err != nil || span == "" || isSign(times[0]) || isSign(span[0]) { // which only Go reads
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

// String returns the rate as [ParseRate] reads it, with the window in its largest whole unit: "100/1m". No limit is "off".
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
