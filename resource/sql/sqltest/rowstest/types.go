package rowstest

import (
	"encoding/json"
	"net/netip"
	"time"
)

// tier is a named string, and an enum of PostgreSQL.
type tier string

// part is a struct that is stored as JSON.
type part struct {
	Name  string   `json:"name"`
	Count int64    `json:"count,omitzero"`
	Price *float64 `json:"price"`
}

// address is an embedded struct: its fields are columns.
type address struct {
	Street string  `json:"street"`
	Zip    *string `json:"zip,omitempty"`
}

// kinds has a column of each kind, not nullable, nullable, and with each option of JSON.
type kinds struct {
	ID        string        `json:"id" format:"uuid"`
	Constant  int           `json:"constant" db:"-" readOnly:"true"`
	Text      string        `json:"text"`
	TextN     *string       `json:"textN" sql:"varchar(20)"`
	TextE     string        `json:"textE,omitempty"`
	TextZ     string        `json:"textZ,omitzero"`
	TextNE    *string       `json:"textNE,omitempty"`
	Code      string        `json:"code" sql:"char(4)"`
	Tier      tier          `json:"tier" enum:"free,pro" sql:"tier"`
	TierN     *string       `json:"tierN,omitzero" enum:"free,pro" sql:"tier"`
	Price     string        `json:"price" format:"decimal" precision:"9,3"`
	PriceN    *string       `json:"priceN" format:"decimal" precision:"15,2"`
	Born      string        `json:"born" format:"date"`
	BornN     *string       `json:"bornN" format:"date"`
	Opens     string        `json:"opens" format:"time-local"`
	Zoned     *string       `json:"zoned" format:"time" sql:"timetz"`
	Span      string        `json:"span" format:"duration"`
	SpanN     *string       `json:"spanN" format:"duration"`
	Reference *string       `json:"reference" format:"uuid"`
	Address   netip.Addr    `json:"address" sql:"inet"`
	Net       *netip.Prefix `json:"net" sql:"cidr"`
	address

	At     time.Time  `json:"at"`
	AtZ    time.Time  `json:"atZ,omitzero"`
	AtNZ   *time.Time `json:"atNZ,omitzero"`
	Local  *time.Time `json:"local" sql:"timestamp"`
	Day    *time.Time `json:"day" sql:"date"`
	Real   float32    `json:"real"`
	RealN  *float32   `json:"realN"`
	RealD  float64    `json:"realD" sql:"real"`
	Double float64    `json:"double"`
	Wide   float32    `json:"wide" sql:"double precision"`
	FloatZ float64    `json:"floatZ,omitzero"`
	FloatQ float64    `json:"floatQ,string"`
	Rate   *float64   `json:"rate" sql:"numeric(12,4)"`
	Small  int16      `json:"small" sql:"smallint"`
	Tiny   int8       `json:"tiny"`
	Int    int        `json:"int" sql:"integer"`
	IntN   *int32     `json:"intN" sql:"integer"`
	IntZ   int        `json:"intZ,omitzero"`
	IntNZ  *int       `json:"intNZ,omitzero"`
	IntQ   int64      `json:"intQ,string"`
	IntQN  *int64     `json:"intQN,string,omitempty"`
	Big    int64      `json:"big"`
	Uint   uint32     `json:"uint"`
	Byte   uint8      `json:"byte"`
	Flag   bool       `json:"flag"`
	FlagN  *bool      `json:"flagN"`
	FlagZ  bool       `json:"flagZ,omitzero"`

	Tags     []string          `json:"tags" sql:"text[]"`
	Sizes    []int32           `json:"sizes" sql:"integer[]"`
	Tiers    []string          `json:"tiers" enum:"free,pro" sql:"tier[]"`
	Times    []time.Time       `json:"times" sql:"timestamptz[]"`
	Prices   []string          `json:"prices" format:"decimal" sql:"numeric(9,2)[]"`
	Labels   []string          `json:"labels"`
	Parts    []part            `json:"parts,omitempty"`
	PartN    *part             `json:"partN"`
	Document map[string]string `json:"document"`
	Maybe    map[string]int    `json:"maybe,omitzero" sql:"jsonb,null"`
	Anything any               `json:"anything"`
	Raw      json.RawMessage   `json:"raw" sql:"jsonb"`
	Plain    json.RawMessage   `json:"plain" sql:"json"`
	Bytes    []byte            `json:"bytes"`
	BytesE   []byte            `json:"bytesE,omitempty"`
	BytesN   *[]byte           `json:"bytesN"`
	Secret   string            `json:"secret" writeOnly:"true"`
	Nothing  map[string]int    `json:"nothing" db:"-" readOnly:"true"`
}

// counted has an id that the database assigns.
type counted struct {
	ID    int64   `json:"id" readOnly:"true"`
	Title string  `json:"title"`
	Note  *string `json:"note"`
	Stars int64   `json:"stars"`
}

// compound has a composite id before its key, and plain columns only.
type compound struct {
	ID      string  `json:"id" readOnly:"true" id:"orderId,lineNo"`
	OrderID string  `json:"orderId" maxLength:"100"`
	LineNo  int16   `json:"lineNo" sql:"smallint"`
	Product string  `json:"product"`
	Note    *string `json:"note"`
}

// trailing has a composite id after its key, of columns of other kinds.
type trailing struct {
	Customer string    `json:"customerId" format:"uuid"`
	Day      string    `json:"day" format:"date"`
	Qty      int64     `json:"qty,omitzero"`
	Constant []string  `json:"constant" db:"-" readOnly:"true"`
	ID       string    `json:"id" readOnly:"true" id:"customerId,day,size"`
	Last     time.Time `json:"last" db:"-" readOnly:"true"`
	Size     string    `json:"size" enum:"s,m,l"`
	Zero     bool      `json:"zero" db:"-" readOnly:"true"`
}

// kept stays in its table when it is deleted.
type kept struct {
	ID        string     `json:"id" maxLength:"40"`
	Title     string     `json:"title"`
	DeletedAt *time.Time `json:"deletedAt" readOnly:"true"`
}
