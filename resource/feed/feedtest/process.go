package feedtest

// processCases tests several Logs over the same events, and restored backups.
func processCases() []testCase {
	return []testCase{
		// A client may reconnect to a different server. If each process numbered the events itself,
		// the cursor of one would be a wrong position in another.
		{name: "another process", needs: another,
			contract: "Cursors are the same in all processes, so another process can continue from them.",
			try: func(k *kit) {
				other := k.Another(k.t, k.log)
				start := k.head()
				k.append("a")
				k.must(other.Append(k.ctx, k.event("b", "1")), "Append in another process")
				k.append("c")
				mine, others := k.tail(k.log, start, 3), k.tail(other, start, 3)
				k.wantItems("a b c", mine, "Tail in this process")
				if !sameOrder(mine, others) {
					k.errorf("Tail in this process and in another process differ: events [%s] and [%s]",
						items(mine), items(others))
					return
				}
				k.wantItems("b c", k.tail(other, mine[0].Cursor, 2),
					"Tail in another process from a cursor of this process")
			}},
		{
			// A lock in one process does not order the writers of another, so only the database
			// can.
			name:  "concurrent processes",
			needs: another,
			contract: "As with one process: no event is lost or repeated, and all readers see the same " +
				"order.",
			try: func(k *kit) {
				other := k.Another(k.t, k.log)
				w := newWorkload(k, k.log, other)
				if runnerOf(k.log) == nil {
					w.race(k.log.Append, other.Append)
					return
				}
				w.race(w.inTx(k.log), w.inTx(other))
			},
		},
		{
			// Sequence numbers repeat after a restore. If the number alone identified a position, a
			// client with a cursor from before the restore would silently miss the events that
			// reuse its number. The mark distinguishes them.
			name:  "restored backup",
			needs: backup,
			contract: "A cursor that a restored backup does not have is ErrExpired, also after the log " +
				"has assigned its number to another event. Earlier cursors can be continued from, or are " +
				"ErrExpired as well.",
			try: tryBackup,
		},
	}
}

// tryBackup appends after a backup, restores it, and reuses the numbers of the lost events. If the
// restored log keeps its epoch, cursors from before the backup must still work. A log that starts a
// new epoch expires all of them, which is also correct.
func tryBackup(k *kit) {
	start := k.head()
	k.append("a", "b", "c")
	kept := k.tail(k.log, start, 3)
	k.wantItems("a b c", kept, "Tail before the backup")
	restore := k.Backup(k.t, k.log)
	k.append("d", "e")
	lost := k.tail(k.log, kept[len(kept)-1].Cursor, 2)
	k.wantItems("d e", lost, "Tail after the backup")
	log := restore(k.t)
	for _, e := range lost {
		k.expired(log, e.Cursor, "the cursor of the lost event "+e.ID)
	}
	for _, id := range []string{"f", "g", "h"} {
		k.must(log.Append(k.ctx, k.event(id, "1")), "Append after the restore")
	}
	head, err := log.Head(k.ctx)
	k.must(err, "Head")
	if head.Epoch == start.Epoch {
		k.wantItems("f g h", k.tail(log, kept[len(kept)-1].Cursor, 3), "Tail from before the backup")
	}
	for _, e := range lost {
		k.expired(log, e.Cursor, "the cursor of the lost event "+e.ID+", with its number reused,")
	}
}
