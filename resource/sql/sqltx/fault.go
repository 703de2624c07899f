package sqltx

// Classification of errors of the drivers. Stores map the kinds to errors of package resource.

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
)

// Kind classifies an error of a database.
type Kind uint8

// The kinds of a [Fault].
const (
	Other      Kind = iota // none of these, or no error
	Unique                 // another row has the same key
	ForeignKey             // a referenced row does not exist, or this row is still referenced
	Check                  // a CHECK constraint failed
	NotNull                // a NOT NULL column has no value
	// a concurrent transaction conflicts, or a migration has changed the type of a result; running the
	// whole function again may succeed
	Conflict
	Unavailable // the database cannot be reached, is overloaded, full or read-only
	Value       // a value is too long, out of range or invalid for its column or index
	Denied      // a policy of row-level security rejects the written row, or the role lacks a privilege
	Raised      // a trigger or function rejects the write, by RAISE EXCEPTION or RAISE(ABORT)
)

// Fault describes an error of a database.
type Fault struct {
	Kind Kind
	// Constraint is the name of the violated constraint, if the engine reports it: PostgreSQL
	// always; SQLite for Check, and for Unique on an index of expressions.
	Constraint string
	// Table is the table of the constraint, without its schema, if the engine reports it: PostgreSQL
	// does, except for Value, Denied and Raised. For ForeignKey it is the one that refers to another.
	Table string
	// Columns are the columns of the constraint, if the engine reports them: both engines for
	// Unique and NotNull, PostgreSQL also for ForeignKey, with the columns of the written table.
	// For an index of expressions PostgreSQL reports the expressions.
	Columns []string
	// Message is the text of RAISE. It is empty for other kinds.
	Message string
	// Lost is true with Unavailable if the engine may have received the statement but its response
	// was lost. Outside a transaction a write may then have taken effect. Inside a transaction it
	// has not.
	Lost bool
}

// Fault classifies an error of a driver, which may be wrapped. It recognizes drivers by the methods
// and fields of their errors. A nil error has the zero Fault.
func (d Dialect) Fault(err error) Fault {
	if err == nil {
		return Fault{}
	}
	if d == PostgreSQL {
		return postgresFault(err)
	}
	return sqliteFault(err)
}

// connectionLost reports whether err is an error of the connection and not of the engine.
func connectionLost(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return false // it implements net.Error, but is the caller's deadline
	}
	var network net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &network) ||
		connectionClosed(err) || connectFailed(err) && !errors.Is(err, context.Canceled)
}

// connectionClosed recognizes the error of pgx for a connection known to be lost, which has no
// exported type.
func connectionClosed(err error) bool {
	return find(err, func(e error) bool { return e.Error() == "conn closed" }) != nil
}

// connectFailed recognizes the error of pgx for a connection that was not established, also because
// the handshake of TLS or of PostgreSQL failed. It checks the name of the type, which has no method
// to recognize it by. lib/pq has no such type.
func connectFailed(err error) bool {
	return find(err, func(e error) bool {
		typ := reflect.TypeOf(e)
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		return typ.Name() == "ConnectError"
	}) != nil
}

// notSent reports whether the connection was lost before the statement was sent, so that it had no
// effect.
func notSent(err error) bool {
	var dial *net.OpError
	var retry interface{ SafeToRetry() bool } // implemented by pgx
	return errors.Is(err, driver.ErrBadConn) || connectionClosed(err) || connectFailed(err) ||
		errors.As(err, &dial) && dial.Op == "dial" ||
		errors.As(err, &retry) && retry.SafeToRetry()
}

// endsConnection reports whether a server ends the connection with this code. It may do so after a
// commit.
func endsConnection(state string) bool {
	switch state {
	case "57P01", "57P02", "08000", "08003", "08006", "08007":
		return true
	}
	return false
}

// postgresFault classifies an error by its SQLSTATE; see appendix A of the PostgreSQL manual.
func postgresFault(err error) Fault {
	source := find(err, func(e error) bool { return stateOf(e) != "" })
	if source == nil {
		if connectionLost(err) {
			return Fault{Kind: Unavailable, Lost: !notSent(err)}
		}
		return Fault{}
	}
	state := stateOf(source)
	fault := Fault{
		Kind:       postgresKind(state),
		Lost:       endsConnection(state) && !notSent(err),
		Constraint: field(source, "ConstraintName", "Constraint").String(),
		Table:      field(source, "TableName", "Table").String(),
	}
	if stalePlan(source) {
		fault.Kind = Conflict
	}
	switch fault.Kind {
	case Raised:
		fault.Message = field(source, "Message").String()
	case Unique, ForeignKey:
		fault.Columns = keyColumns(field(source, "Detail").String())
	case NotNull:
		fault.Columns = []string{field(source, "ColumnName", "Column").String()}
	}
	return fault
}

// postgresKind classifies an SQLSTATE (PostgreSQL, appendix A).
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
	// 57014 is the error of statement_timeout, 25P04 of transaction_timeout, 57P05 of
	// idle_session_timeout, and 25006 of a standby.
	case "57P01", "57P02", "57P03", "57P05", "55P03", "25P03", "25P04", "57014", "25006":
		return Unavailable
	case "22000", "22001", "22003", "22007", "22008", "22009", "22015", "22021", "22P02", "22P05", "54000":
		return Value
	case "42501":
		return Denied
	case "P0001":
		return Raised
	}
	switch state[:2] {
	case "08", "53": // connection exceptions, insufficient resources
		return Unavailable
	}
	return Other
}

// keyColumns parses the columns of a detail such as "Key (tenant, email)=(1, a@b) already exists."
// Their syntax does not depend on the language of the server.
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

// sqlState returns the SQLSTATE of the PostgreSQL error in err, or "".
func sqlState(err error) string {
	return stateOf(find(err, func(e error) bool { return stateOf(e) != "" }))
}

// stateOf returns the SQLSTATE of err itself. Drivers agree on this method; a SQLSTATE has five
// characters.
func stateOf(err error) string {
	if e, ok := err.(interface{ SQLState() string }); ok && len(e.SQLState()) == 5 {
		return e.SQLState()
	}
	return ""
}

// Result codes of SQLite. The low byte of an extended code is the primary code.
const (
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteReadOnly   = 8
	sqliteIOErr      = 10
	sqliteFull       = 13
	sqliteCantOpen   = 14
	sqliteTooBig     = 18
	sqliteCheck      = 275
	sqliteForeignKey = 787
	sqliteNotNull    = 1299
	sqlitePrimaryKey = 1555
	sqliteTrigger    = 1811
	sqliteUnique     = 2067
	sqliteRowID      = 2579
)

// sqliteFault classifies an error of either driver by its extended result code.
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
	case sqliteTrigger:
		return Fault{Kind: Raised, Message: afterMarker(source, "constraint failed: ")}
	case sqliteNotNull:
		return Fault{Kind: NotNull, Columns: columnsOf(afterMarker(source, "NOT NULL constraint failed: "))}
	}
	switch code & 0xff {
	case sqliteBusy, sqliteLocked:
		return Fault{Kind: Conflict}
	case sqliteIOErr:
		return Fault{Kind: Unavailable, Lost: true}
	case sqliteFull, sqliteCantOpen, sqliteReadOnly:
		return Fault{Kind: Unavailable}
	case sqliteTooBig:
		return Fault{Kind: Value}
	}
	return Fault{}
}

// uniqueFault parses "users.tenant, users.email" or "index 'users_lower_email'".
func uniqueFault(what string) Fault {
	if index, ok := strings.CutPrefix(what, "index '"); ok {
		return Fault{Kind: Unique, Constraint: strings.TrimSuffix(index, "'")}
	}
	return Fault{Kind: Unique, Columns: columnsOf(what)}
}

// columnsOf removes the tables from "users.tenant, users.email".
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

// afterMarker returns the part of a message of SQLite after a phrase. Messages of SQLite are not
// translated. modernc.org/sqlite appends the code in parentheses, which is removed.
func afterMarker(err error, phrase string) string {
	_, what, _ := strings.Cut(err.Error(), phrase)
	if i := strings.LastIndex(what, " ("); i >= 0 && strings.Trim(what[i+2:], "0123456789") == ")" {
		what = what[:i]
	}
	return what
}

// sqliteCode returns the extended result code of the SQLite error in err.
func sqliteCode(err error) (code int64, ok bool) {
	find(err, func(e error) bool {
		code, ok = codeOf(e)
		return ok
	})
	return code, ok
}

// codeOf returns the code of err itself, from a method or field ExtendedCode or Code. Their types
// belong to the driver, so it uses reflection. It checks the name of the package, because other
// errors have codes as well.
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

// field returns the first of the named fields that the struct of err has, or an empty string.
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

// find returns the first error in the tree of err that satisfies is, or nil.
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
