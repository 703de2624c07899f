package main_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestChangesOfContracts follows the link of a deprecated contract, and compares the page with the list
// of versions.
func TestChangesOfContracts(t *testing.T) {
	t.Parallel()
	s := open(t)
	resp, _ := s.send("GET", "/orders/1", "", "API-Version: 1.0")
	link := regexp.MustCompile(`<([^>]*)>; ?rel="?deprecation"?`).FindStringSubmatch(
		strings.Join(resp.Header["Link"], ", "))
	if link == nil {
		t.Fatalf("Link has no deprecation: %q", resp.Header["Link"])
	}
	resp, page := s.send("GET", link[1], "", "Accept: text/html")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("GET %s: %d %s", link[1], resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	type change struct {
		Breaking bool
		Place    string
	}
	var list struct {
		Versions []struct {
			Name    string
			Changes struct {
				Since string
				List  []change
			}
		}
	}
	if _, body := s.send("GET", "/openapi", ""); json.Unmarshal([]byte(body), &list) != nil {
		t.Fatalf("the list of versions is not JSON: %s", body)
	}
	breaking := map[string]bool{}
	for _, v := range list.Versions {
		for _, c := range v.Changes.List {
			breaking[v.Name] = breaking[v.Name] || c.Breaking
			if !strings.Contains(page, "<code>"+c.Place+"</code>") {
				t.Errorf("%s: the page has no change at %s", v.Name, c.Place)
			}
		}
		if since := map[string]string{"2.0.0": "1.1.0", "1.1.0": "1.0.0"}[v.Name]; v.Changes.Since != since {
			t.Errorf("%s: changes since %q, want %q", v.Name, v.Changes.Since, since)
		}
	}
	if !breaking["2.0.0"] || breaking["1.1.0"] {
		t.Errorf("contracts with breaking changes: %v, want 2.0.0", breaking)
	}
	if want := (change{true, "Order.qty"}); !slices.Contains(list.Versions[0].Changes.List, want) {
		t.Errorf("2.0.0 does not report that Order.qty was removed: %v", list.Versions[0].Changes.List)
	}
}
