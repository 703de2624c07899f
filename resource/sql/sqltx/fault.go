package sqltx

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
)

// Kind says what a database has against a statement.
type Kind uint8

// The kinds of a [Fault].
const (
	Other       Kind = iota // none of these, or no error
	Unique                  // another row has the value
	ForeignKey              // there is no row referred to, or there are rows that refer to this one
	Check                   // a CHECK says no
	NotNull                 // a value is missing
	Conflict                // with another transaction, which was first; running the whole function again may succeed
	Unavailable             // the database cannot be reached, is busy with other things than rows, or is full
	Value                   // a value is longer, larger or otherwise than a column or an index can keep
)

// Fault is what can be told of an error of a database.
type Fault struct {
	Kind Kind
	// Constraint is the name of the constraint that was violated, where the engine tells: PostgreSQL always, SQLite for
	// Check, and for Unique if it is an index on expressions.
	Constraint string
	// Columns are those of the constraint, where the engine tells: for Unique and NotNull both, for ForeignKey PostgreSQL,
	// which names the columns of the table that was written. Of an index on expressions PostgreSQL gives these.
	Columns []string
	// Lost is true beside Unavailable if the statement may have reached the engine, whose answer has not come: one that
	// writes, outside of a transaction, may have been carried out. Inside of one nothing has.
	Lost bool
}

// Fault tells what kind of error a driver has returned, however often it has been wrapped. It knows drivers by the
// methods and fields of their errors.
func (d Dialect) Fault(err error) Fault {
	if err == nil {
		return Fault{}
	}
	if d == PostgreSQL {
		return postgresFault(err)
	}
	return sqliteFault(err)
}

// lost reports whether err is about the connection and not from the engine.
func lost(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return false // it looks like an error of the network, but is that of a caller who has waited long enough
	}
	var network net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) || closed(err)
}

// closed knows the error of pgx for a connection that it has noticed to be lost. It has no type that others could name.
func closed(err error) bool {
	return find(err, func(e error) bool { return e.Error() == "conn closed" }) != nil
}

// unsent reports whether a lost connection was lost before the statement was sent, so that nothing has happened.
func unsent(err error) bool {
	var dial *net.OpError
	var retry interface{ SafeToRetry() bool } // pgx
	return errors.Is(err, driver.ErrBadConn) || closed(err) || errors.As(err, &dial) && dial.Op == "dial" ||
		errors.As(err, &retry) && retry.SafeToRetry()
}

// ends reports whether a server says with this code that it ends the connection. It may do so behind a commit.
func ends(state string) bool {
	switch state {
	case "57P01", "57P02", "08000", "08003", "08006", "08007":
		return true
	}
	return false
}

// The classes and codes of PostgreSQL that mean something here; see appendix A of its manual.
func postgresFault(err error) Fault {
	source := find(err, func(e error) bool { return stateOf(e) != "" })
	if source == nil {
		if lost(err) {
			return Fault{Kind: Unavailable, Lost: !unsent(err)}
		}
		return Fault{}
	}
	state := stateOf(source)
	fault := Fault{
		Kind:       postgresKind(state),
		Lost:       ends(state),
		Constraint: field(source, "ConstraintName", "Constraint").String(),
	}
	switch fault.Kind {
	case Unique, ForeignKey:
		fault.Columns = keyColumns(field(source, "Detail").String())
	case NotNull:
		fault.Columns = []string{field(source, "ColumnName", "Column").String()}
	}
	return fault
}

func postgresKind(state string) Kind {
	switch state {
	case "23505", "23P01":
		return Unique
	case "23503", "23001":
		return ForeignKey
	case "23514":
		return Check
	case "23502":
		return NotNull
	case "40001", "40P01":
		return Conflict
	case "57P01", "57P02", "57P03", "55P03", "25P03", "25006": // the last is what a standby says
		return Unavailable
	case "22001", "22003", "22008", "22021", "22P05", "54000":
		return Value
	}
	switch state[:2] {
	case "08", "53": // connections, resources
		return Unavailable
	}
	return Other
}

// keyColumns reads the columns out of a detail such as "Key (tenant, email)=(1, a@b) already exists." It is the same in
// every language that a server may speak.
func keyColumns(detail string) []string {
	_, rest, _ := strings.Cut(detail, "(")
	list, _, found := strings.Cut(rest, ")=(")
	if !found {
		return nil
	}
	columns := strings.Split(list, ", ")
	for i, c := range columns {
		if quoted, ok := strings.CutPrefix(c, `"`); ok {
			columns[i] = strings.ReplaceAll(strings.TrimSuffix(quoted, `"`), `""`, `"`)
		}
	}
	return columns
}

// sqlState is the code of the PostgreSQL error in err, or empty.
func sqlState(err error) string {
	return stateOf(find(err, func(e error) bool { return stateOf(e) != "" }))
}

// stateOf asks err itself. Drivers agree on this method; a code always has five characters.
func stateOf(err error) string {
	if e, ok := err.(interface{ SQLState() string }); ok && len(e.SQLState()) == 5 {
		return e.SQLState()
	}
	return ""
}

// Result codes of SQLite. The lower byte of an extended code is the primary one.
const (
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteIOErr      = 10
	sqliteFull       = 13
	sqliteCantOpen   = 14
	sqliteTooBig     = 18
	sqliteCheck      = 275
	sqliteForeignKey = 787
	sqliteNotNull    = 1299
	sqlitePrimaryKey = 1555
	sqliteUnique     = 2067
	sqliteRowID      = 2579
)

func sqliteFault(err error) Fault {
	source := find(err, func(e error) bool { _, ok := codeOf(e); return ok })
	if source == nil {
		return Fault{}
	}
	code, _ := codeOf(source)
	switch code {
	case sqlitePrimaryKey, sqliteUnique, sqliteRowID:
		return uniqueFault(afterMarker(source, "UNIQUE constraint failed: "))
	case sqliteForeignKey:
		return Fault{Kind: ForeignKey}
	case sqliteCheck:
		return Fault{Kind: Check, Constraint: afterMarker(source, "CHECK constraint failed: ")}
	case sqliteNotNull:
		return Fault{Kind: NotNull, Columns: columnsOf(afterMarker(source, "NOT NULL constraint failed: "))}
	}
	switch code & 0xff {
	case sqliteBusy, sqliteLocked:
		return Fault{Kind: Conflict}
	case sqliteIOErr:
		return Fault{Kind: Unavailable, Lost: true}
	case sqliteFull, sqliteCantOpen:
		return Fault{Kind: Unavailable}
	case sqliteTooBig:
		return Fault{Kind: Value}
	}
	return Fault{}
}

// uniqueFault reads either "users.tenant, users.email" or "index 'users_lower_email'".
func uniqueFault(what string) Fault {
	if index, ok := strings.CutPrefix(what, "index '"); ok {
		return Fault{Kind: Unique, Constraint: strings.TrimSuffix(index, "'")}
	}
	return Fault{Kind: Unique, Columns: columnsOf(what)}
}

// columnsOf takes the tables out of "users.tenant, users.email".
func columnsOf(what string) []string {
	if what == "" {
		return nil
	}
	columns := strings.Split(what, ", ")
	for i, c := range columns {
		columns[i] = c[strings.LastIndexByte(c, '.')+1:]
	}
	return columns
}

// afterMarker returns what SQLite, whose messages are in no other language, says behind a phrase. Only modernc.org/sqlite
// adds something, which is the code in parentheses.
func afterMarker(err error, phrase string) string {
	_, what, _ := strings.Cut(err.Error(), phrase)
	if i := strings.LastIndex(what, " ("); i >= 0 && strings.Trim(what[i+2:], "0123456789") == ")" {
		what = what[:i]
	}
	return what
}

// sqliteCode is the extended result code of the SQLite error in err.
func sqliteCode(err error) (code int64, ok bool) {
	find(err, func(e error) bool {
		code, ok = codeOf(e)
		return ok
	})
	return code, ok
}

// codeOf asks err itself: by its method ExtendedCode or Code, or its field of one of these names. The results are of
// types of the driver's own, which only reflection can take. Many other errors have codes; a driver is known by its name.
func codeOf(err error) (int64, bool) {
	v, typ := reflect.ValueOf(err), reflect.TypeOf(err)
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if !strings.Contains(typ.PkgPath(), "sqlite") {
		return 0, false
	}
	for _, name := range []string{"ExtendedCode", "Code"} {
		code := field(err, name)
		if m := v.MethodByName(name); m.IsValid() && m.Type().NumIn() == 0 && m.Type().NumOut() == 1 {
			code = m.Call(nil)[0]
		}
		switch {
		case code.CanInt():
			return code.Int(), true
		case code.CanUint():
			return int64(code.Uint()), true
		}
	}
	return 0, false
}

// field returns the first of the fields that the struct in or behind err has, or else an empty string.
func field(err error, names ...string) reflect.Value {
	v := reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	for _, name := range names {
		if v.Kind() != reflect.Struct {
			break
		}
		if f := v.FieldByName(name); f.IsValid() {
			return f
		}
	}
	return reflect.ValueOf("")
}

// find returns the first error in the tree of err that is the one, or nil.
func find(err error, is func(error) bool) error {
	if err == nil || is(err) {
		return err
	}
	switch wrapped := err.(type) {
	case interface{ Unwrap() error }:
		return find(wrapped.Unwrap(), is)
	case interface{ Unwrap() []error }:
		for _, e := range wrapped.Unwrap() {
			if found := find(e, is); found != nil {
				return found
			}
		}
	}
	return nil
}
