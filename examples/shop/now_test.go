package main_test

import (
	"testing"
	"time"
)

const sunset = "2027-06-30T23:59:59Z"

func TestNowPastTheSunset(t *testing.T) {
	t.Parallel()
	s := open(t, "-now", sunset)
	tests := []struct {
		path   string
		header []string
		status int
	}{
		{"/v1/orders", nil, 410},
		{"/v1.0/orders/1", nil, 410},
		{"/orders", []string{"API-Version: 1"}, 410},
		{"/orders", []string{"Host: api-v1.localhost"}, 410},
		{"/orders?version=1.1.0", nil, 410},
		{"/orders", []string{"Accept: application/vnd.shop.1.order+json"}, 410},
		{"/v2/orders", nil, 200},
		{"/orders", nil, 200},
		{"/orders", []string{"API-Version: 2"}, 200},
	}
	for _, tt := range tests {
		resp, body := s.send("GET", tt.path, "", tt.header...)
		if resp.StatusCode != tt.status {
			t.Errorf("%s %s returned %d, want %d: %s", tt.path, tt.header, resp.StatusCode, tt.status,
				body)
		}
		if got := resp.Header.Get("Sunset"); tt.status == 410 && got != "Wed, 30 Jun 2027 23:59:59 GMT" {
			t.Errorf("%s %s: Sunset is %q", tt.path, tt.header, got)
		}
	}
}

// A contract ends while the shop runs, and no request before the end is rejected.
func TestNowPassesTheSunset(t *testing.T) {
	t.Parallel()
	end, err := time.Parse(time.RFC3339, sunset)
	if err != nil {
		t.Fatal(err)
	}
	const left = 3 * time.Second
	began := time.Now() // the clock of the shop starts later, so the end is not earlier than began and what is left
	s := open(t, "-now", end.Add(-left).Format(time.RFC3339))
	opened := time.Now() // and not later than opened and what is left
	for {
		asked := time.Now()
		resp, body := s.send("GET", "/v1/orders", "")
		answered := time.Now()
		switch {
		case resp.StatusCode != 200 && resp.StatusCode != 410:
			t.Fatalf("status %d: %s", resp.StatusCode, body)
		case resp.StatusCode == 410 && answered.Before(began.Add(left)):
			t.Fatalf("410 with %v left", began.Add(left).Sub(answered))
		case resp.StatusCode == 200 && asked.After(opened.Add(left)):
			t.Fatalf("200, and the end was %v ago", asked.Sub(opened.Add(left)))
		}
		if resp, _ := s.send("GET", "/v2/orders", ""); resp.StatusCode != 200 {
			t.Fatalf("/v2 is answered with %d", resp.StatusCode)
		}
		if resp.StatusCode == 410 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
