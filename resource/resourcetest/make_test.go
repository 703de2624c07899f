package resourcetest_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/schema"
)

// picky has a constraint of every kind.
type picky struct {
	ID       int32              `json:"id" readOnly:"true"`
	Email    string             `json:"email" format:"email" unique:"true" required:"true"`
	Key      string             `json:"key" format:"uuid"`
	Site     string             `json:"site" format:"uri"`
	Host     string             `json:"host" format:"hostname"`
	V4       string             `json:"v4" format:"ipv4"`
	V6       string             `json:"v6" format:"ipv6"`
	Day      string             `json:"day" format:"date"`
	Clock    string             `json:"clock" format:"time"`
	Moment   string             `json:"moment" format:"date-time"`
	Country  string             `json:"country" pattern:"^[A-Z]{2}$"`
	Plate    string             `json:"plate" pattern:"^[A-Z]{1,3}-[a-f0-9]+(x|yz)?$" minLength:"6" maxLength:"12"`
	Short    string             `json:"short" maxLength:"3"`
	Long     string             `json:"long" minLength:"40"`
	Grade    string             `json:"grade" enum:"a,b,c"`
	Level    int8               `json:"level" minimum:"-3" maximum:"3"`
	Port     uint16             `json:"port" minimum:"1024"`
	Steps    int                `json:"steps" enum:"1,2,5"`
	Big      uint64             `json:"big"`
	Score    float64            `json:"score" minimum:"0.5" maximum:"1"`
	Small    float32            `json:"small"`
	At       *time.Time         `json:"at"`
	Addr     netip.Addr         `json:"addr"`
	Raw      []byte             `json:"raw"`
	Codes    []string           `json:"codes" unique:"true" minItems:"2" maxItems:"4" pattern:"^[0-9]{4}$"`
	Shelves  [2]int             `json:"shelves"`
	Prices   map[string]float64 `json:"prices" maxItems:"2"`
	Parent   *picky             `json:"parent"`
	Children []picky            `json:"children" maxItems:"1"`
	Secret   string             `json:"secret" writeOnly:"true" minLength:"8"`
	When     time.Time          `json:"when" readOnly:"true"`
	embedded
}

type embedded struct {
	Inner string `json:"inner" maxLength:"5"`
}

func TestMadeValuesAreValid(t *testing.T) {
	t.Parallel()
	typ := schema.For[picky]()
	opts := &resourcetest.Options[picky]{Seed: 7}
	for n := range 60 {
		for style, v := range resourcetest.Make(t, opts, n) {
			if violations := typ.Validate(&v); len(violations) > 0 {
				t.Errorf("%s value %d: %v", style, n, schema.Violations(violations))
			}
			if v.ID != 0 || !v.When.IsZero() {
				t.Errorf("%s value %d fills in what belongs to the server: id %d, when %v", style, n, v.ID, v.When)
			}
		}
	}
}

func TestMadeValuesDiffer(t *testing.T) {
	t.Parallel()
	typ := schema.For[picky]()
	opts := &resourcetest.Options[picky]{Seed: 7}
	var earlier []picky
	for n := range 40 {
		v := resourcetest.Make(t, opts, n)["distinct"]
		for _, e := range earlier {
			if typ.Equal(&e, &v) || e.Email == v.Email {
				t.Fatalf("value %d was made before: %+v", n, v)
			}
		}
		earlier = append(earlier, v)
	}
}

func TestMadeValuesDependOnTheSeedAlone(t *testing.T) {
	t.Parallel()
	typ := schema.For[picky]()
	again := resourcetest.Make(t, &resourcetest.Options[picky]{Seed: 7}, 3)
	for style, v := range resourcetest.Make(t, &resourcetest.Options[picky]{Seed: 7}, 3) {
		other := again[style]
		if !typ.Equal(&v, &other) {
			t.Errorf("%s: the same seed made %+v and %+v", style, v, other)
		}
	}
}

func TestMadeValuesFillEverything(t *testing.T) {
	t.Parallel()
	v := resourcetest.Make(t, &resourcetest.Options[picky]{Seed: 7}, 1)["distinct"]
	switch {
	case v.At == nil, v.Parent == nil, len(v.Codes) == 0, len(v.Prices) == 0, len(v.Raw) == 0, v.Inner == "",
		!v.Addr.IsValid(), len(v.Children) == 0, v.Secret == "", v.Shelves == [2]int{}:
		t.Errorf("a distinct value leaves something out: %+v", v)
	}
}
