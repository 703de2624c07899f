package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

const upperUUID, lowerUUID = "0190A3B4-0000-7000-8000-00000000ABCD", "0190a3b4-0000-7000-8000-00000000abcd"

// formatted has a member of each format that is checked.
type formatted struct {
	UUID    string            `json:"uuid" format:"uuid" default:"0190A3B4-0000-7000-8000-00000000ABCD"`
	Maybe   *string           `json:"maybe" format:"uuid"`
	UUIDs   []string          `json:"uuids" format:"uuid"`
	ByName  map[string]string `json:"byName" format:"uuid"`
	Fixed   string            `json:"fixed,omitempty" format:"uuid" enum:"0190A3B4-0000-7000-8000-00000000ABCD"`
	Date    string            `json:"date" format:"date"`
	Time    string            `json:"time" format:"time"`
	Local   string            `json:"local" format:"time-local"`
	Email   string            `json:"email,omitempty" format:"email"`
	Contact string            `json:"contact" format:"email"`
	URI     string            `json:"uri" format:"uri"`
	Host    string            `json:"host" format:"hostname"`
	IPv4    string            `json:"ipv4" format:"ipv4"`
	IPv6    string            `json:"ipv6" format:"ipv6"`
	Price   string            `json:"price" format:"decimal"`
	Text    string            `json:"text"`
}

// keyedByUUID has an id of two members.
type keyedByUUID struct {
	ID    string `json:"id" readOnly:"true" id:"owner,day"`
	Owner string `json:"owner" format:"uuid"`
	Day   string `json:"day" format:"date"`
}

// TestParseOperand checks operands as the values of their fields are checked.
func TestParseOperand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		field, text, want string
		err               string
	}{
		{field: "uuid", text: upperUUID, want: lowerUUID},
		{field: "uuid", text: "x", err: "must be a UUID"},
		{field: "uuid", text: "", err: "must be a UUID"},
		{field: "uuids", text: upperUUID, want: lowerUUID},
		{field: "maybe", text: "0190a3b4", err: "must be a UUID"},
		{field: "maybe", text: "", err: "must be a UUID"},
		{field: "fixed", text: upperUUID, want: lowerUUID},
		{field: "date", text: "2024-02-29", want: "2024-02-29"},
		{field: "date", text: "2023-02-29", err: "must be a date, like 2006-01-02"},
		{field: "time", text: "25:00:00Z", err: "must be a time with its offset, like 15:04:05Z"},
		{field: "local", text: "12:00", err: "must be a time without an offset, like 15:04:05"},
		{field: "email", text: "a@b.c", want: "a@b.c"},
		{field: "email", text: "", want: ""}, // a document can have it
		{field: "email", text: "a@", err: "must be an email address"},
		{field: "contact", text: "", err: "must be an email address"},
		{field: "uri", text: "/x", err: "must be an absolute URI"},
		{field: "host", text: "a_b", err: "must be a host name"},
		{field: "ipv4", text: "1.2.3", err: "must be an IPv4 address"},
		{field: "ipv6", text: "::g", err: "must be an IPv6 address"},
		{field: "price", text: "1e3", want: "1000"},
		{field: "text", text: "x", want: "x"},
	} {
		got, err := schema.For[formatted]().Field(tt.field).ParseOperand(tt.text)
		checkOperand(t, tt.field+"="+tt.text, got, err, tt.want, tt.err)
	}
	id := schema.For[keyedByUUID]().Field("id")
	for text, want := range map[string]string{
		upperUUID + ",2024-02-29": lowerUUID + ",2024-02-29", lowerUUID + ",today": "", "x,2024-02-29": "", "x": "",
	} {
		got, err := id.ParseOperand(text)
		wantErr := ""
		if want == "" {
			wantErr = "must be the texts of owner and day, separated by commas"
		}
		checkOperand(t, "id="+text, got, err, want, wantErr)
	}
}

func checkOperand(t *testing.T, name string, got any, err error, want, wantErr string) {
	t.Helper()
	text := ""
	if err != nil {
		text = err.Error()
	} else if s, ok := got.(string); ok && s != want || !ok && cmp.Diff(decimal(t, want), got) != "" {
		t.Errorf("%s: %v, want %q", name, got, want)
	}
	if text != wantErr {
		t.Errorf("%s: error %q, want %q", name, text, wantErr)
	}
}

// TestDecodeUUID: UUIDs are decoded in lower case, except from the store and if the item has this value.
func TestDecodeUUID(t *testing.T) {
	t.Parallel()
	typ, upper := schema.For[formatted](), upperUUID
	doc := `{"date":"2024-02-29","time":"12:00:00Z","local":"12:00:00","contact":"a@b.c","uri":"a:b","host":"b.c",` +
		`"ipv4":"1.2.3.4","ipv6":"::1","price":"1","uuid":"` + upper + `","maybe":"` + upper + `","uuids":["` + upper + `"],"byName":{"a":"` + upper +
		`"},"fixed":"` + upper + `","text":"` + upper + `"}`
	lower := lowerUUID
	decoded := formatted{UUID: lower, Maybe: &lower, UUIDs: []string{lower}, ByName: map[string]string{"a": lower},
		Fixed: lower, Text: upper, Date: "2024-02-29", Time: "12:00:00Z", Local: "12:00:00", Contact: "a@b.c",
		URI: "a:b", Host: "b.c", IPv4: "1.2.3.4", IPv6: "::1", Price: "1"}
	stored, kept := decoded, decoded
	stored.UUID, stored.Maybe, stored.Fixed = upper, &upper, upper
	stored.UUIDs, stored.ByName = []string{upper}, map[string]string{"a": upper}
	kept.UUID, kept.Maybe, kept.Fixed = upper, &upper, upper
	for _, tt := range []struct {
		name string
		opts schema.DecodeOptions
		want formatted
	}{
		{"new", schema.DecodeOptions{Mode: schema.Create}, decoded},
		{"stored", schema.DecodeOptions{Mode: schema.Stored}, stored},
		{"in place of a stored one", schema.DecodeOptions{Mode: schema.Patched, Base: &stored}, kept},
	} {
		got, err := typ.Decode([]byte(doc), &tt.opts)
		if diff := cmp.Diff(&tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
	id := schema.For[keyedByUUID]()
	for _, owner := range []string{upper, lower} {
		key := &keyedByUUID{ID: owner + ",2024-02-29", Owner: owner, Day: "2024-02-29"}
		got, err := id.Decode([]byte(`{"owner":"`+upper+`","day":"2024-02-29"}`),
			&schema.DecodeOptions{Mode: schema.Replace, Base: key})
		if diff := cmp.Diff(any(key), got); diff != "" || err != nil {
			t.Errorf("key of %s: %v (-want +got):\n%s", owner, err, diff)
		}
	}
	if got := id.Field("id").Spell(upper + ",2024-02-29"); got != lower+",2024-02-29" {
		t.Errorf("Spell of an id: %s", got)
	}
	if got := typ.New().(*formatted).UUID; got != lower {
		t.Errorf("default %s", got)
	}
}
