package sqltx

// Savepoints before the statements of a transaction of PostgreSQL, which the error of a statement aborts.
// SQLite undoes the statement alone. transaction.go calls it.

import (
	"context"
	"errors"
	"strings"
)

// stateAborted is the SQLSTATE of a statement in an aborted transaction.
const stateAborted = "25P02"

// errAborted reports that the function has ignored an error that aborted its transaction.
var errAborted = errors.New("sqltx: transaction continued after a statement that failed")

// needsSavepoints reports whether the function has to run again with savepoints. Each takes two round
// trips, so there are none before it is known that the function ignores errors. Conflicts end a
// transaction in any case.
func (a *attempt) needsSavepoints() bool { return a.aborted && !a.savepoints && !a.conflicted }

// beginStatement sets a savepoint before a statement, if the transaction has savepoints. After a conflict
// the server refuses all statements.
func (a *attempt) beginStatement(ctx context.Context, query string) error {
	if a.ended {
		return errEnded
	}
	if !a.savepoints || a.conflicted {
		return nil
	}
	verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
	if strings.EqualFold(verb, "ROLLBACK") { // to a savepoint of the function
		a.pointSet = false
		return nil
	}
	err := a.endStatement(ctx)
	if err != nil || strings.EqualFold(verb, "SAVEPOINT") || strings.EqualFold(verb, "RELEASE") {
		return err
	}
	_, err = a.session.ExecContext(ctx, "SAVEPOINT stoa_statement")
	a.pointSet = err == nil
	return a.note(err)
}

// endStatement releases the savepoint before the last statement. If the statement has failed, it is undone
// first.
func (a *attempt) endStatement(ctx context.Context) error {
	if !a.pointSet || a.conflicted {
		return nil
	}
	a.pointSet = false
	const release = "RELEASE SAVEPOINT stoa_statement"
	_, err := a.session.ExecContext(ctx, release)
	if sqlState(err) == stateAborted {
		if _, err = a.session.ExecContext(ctx, "ROLLBACK TO SAVEPOINT stoa_statement"); err == nil {
			_, err = a.session.ExecContext(ctx, release)
		}
	}
	return a.note(err)
}
