package pgxrows

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Reader is a [sqltx.RowReader] for connections of the stdlib package of pgx. The zero value is ready
// to use, and safe for concurrent use.
type Reader struct{}

var _ sqltx.RowReader = Reader{}

// formats are the result formats: those of the stdlib package, and the binary one for two further types.
// All other types are sent as text. The driver returns their text as well, so it need not be converted.
var formats = pgx.QueryResultFormatsByOID{
	pgtype.BoolOID:        pgtype.BinaryFormatCode,
	pgtype.ByteaOID:       pgtype.BinaryFormatCode,
	pgtype.CIDOID:         pgtype.BinaryFormatCode,
	pgtype.DateOID:        pgtype.BinaryFormatCode,
	pgtype.Float4OID:      pgtype.BinaryFormatCode,
	pgtype.Float8OID:      pgtype.BinaryFormatCode,
	pgtype.Int2OID:        pgtype.BinaryFormatCode,
	pgtype.Int4OID:        pgtype.BinaryFormatCode,
	pgtype.Int8OID:        pgtype.BinaryFormatCode,
	pgtype.OIDOID:         pgtype.BinaryFormatCode,
	pgtype.TIDOID:         pgtype.BinaryFormatCode,
	pgtype.TimestampOID:   pgtype.BinaryFormatCode,
	pgtype.TimestamptzOID: pgtype.BinaryFormatCode,
	pgtype.UUIDOID:        pgtype.BinaryFormatCode,
	pgtype.XIDOID:         pgtype.BinaryFormatCode,
}

// ReadRows implements [sqltx.RowReader] for a *[stdlib.Conn]. The query runs in the default mode of the
// connection, with its cache of prepared statements.
func (Reader) ReadRows(
	ctx context.Context, conn any, query string, args []any, read func(sqltx.RawRows) error,
) error {
	outer, ok := conn.(*stdlib.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	c := outer.Conn()
	if c.IsClosed() {
		return driver.ErrBadConn
	}
	all := make([]any, 1, 1+len(args))
	all[0] = formats
	answer, err := c.Query(ctx, query, append(all, args...)...)
	if err != nil {
		return sendError(err)
	}
	defer answer.Close()
	// Errors of the statement arrive with its first row.
	r := &rows{answer: answer, types: c.TypeMap(), first: true, more: answer.Next()}
	if err := answer.Err(); err != nil {
		return sendError(err)
	}
	fields := answer.FieldDescriptions()
	r.columns = make([]sqltx.RawColumn, len(fields))
	for i, f := range fields {
		r.columns[i] = sqltx.RawColumn{OID: f.DataTypeOID, Binary: f.Format == pgtype.BinaryFormatCode}
	}
	return read(r)
}

// sendError returns the error for a query that may not have been sent.
func sendError(err error) error {
	if pgconn.SafeToRetry(err) {
		return fmt.Errorf("%w: %w", driver.ErrBadConn, err)
	}
	return err
}

// rows are the rows of a query. The first one was read before its read function was called.
type rows struct {
	answer      pgx.Rows
	types       *pgtype.Map
	columns     []sqltx.RawColumn
	first, more bool
}

// Columns implements [sqltx.RawRows].
func (r *rows) Columns() []sqltx.RawColumn { return r.columns }

// Next implements [sqltx.RawRows].
func (r *rows) Next() bool {
	if r.first {
		r.first = false
		return r.more
	}
	return r.answer.Next()
}

// Values implements [sqltx.RawRows].
func (r *rows) Values() [][]byte { return r.answer.RawValues() }

// Err implements [sqltx.RawRows].
func (r *rows) Err() error { return r.answer.Err() }

// Value implements [sqltx.RawRows]. The conversions are those of the stdlib package: of its formats,
// values in other than the text format, and JSON, which is bytes. Others are the text of the server.
func (r *rows) Value(column int) (driver.Value, error) {
	src, col := r.answer.RawValues()[column], r.columns[column]
	if src == nil {
		return nil, nil
	}
	switch col.OID {
	case pgtype.JSONOID, pgtype.JSONBOID, pgtype.XMLOID:
		if !col.Binary {
			return src, nil // valid until Next, as Value is called by scanners
		}
	case pgtype.UUIDOID, pgtype.TIDOID:
		if !col.Binary {
			return string(src), nil
		}
	default:
		if _, ok := formats[col.OID]; !ok && !col.Binary {
			return string(src), nil
		}
	}
	typ, ok := r.types.TypeForOID(col.OID)
	if !ok {
		return nil, fmt.Errorf("pgxrows: unknown type %d in the binary format", col.OID)
	}
	format := int16(pgtype.TextFormatCode)
	if col.Binary {
		format = pgtype.BinaryFormatCode
	}
	return typ.Codec.DecodeDatabaseSQLValue(r.types, col.OID, format, src)
}
