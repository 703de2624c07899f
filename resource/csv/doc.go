// Package csv converts items to comma-separated values and back (RFC 4180), by the schema of their
// Go type.
//
// Content has one row for each item and one column for each top-level member:
//
//   - The first row has the names of the members, in the order of the columns.
//   - A string is text. Times are RFC 3339, and bytes are base64, as in JSON. Numbers and booleans
//     are written as in JSON.
//   - An object, an array and a value of any type is JSON text in one cell.
//   - An empty cell is null or an absent member. For a string that requires that the cell has no
//     quotation marks, because "" is an empty string, as for PostgreSQL's COPY. When an empty cell is
//     read, it is null if the member may be null and is not read-only, and otherwise the member is
//     absent.
//   - Rows end with CRLF. A reader accepts LF, too.
//
// An [Encoder] writes rows, and a [Decoder] reads them as JSON documents, which [schema.Type.Decode]
// decodes and validates. Both use constant memory for any number of rows. Items that were encoded
// decode to equal items, under the same conditions as their JSON.
//
// The decoder does not use encoding/csv: that replaces CRLF in quoted cells by LF, does not report
// whether a cell was quoted, and has no limit for the size of a row.
//
// Package rest serves lists and imports as text/csv with this package. It imports the leaves schema
// and header.
package csv
