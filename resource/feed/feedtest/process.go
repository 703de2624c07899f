package feedtest

func processCases() []testCase {
	return []testCase{
		{name: "another process", needs: another,
			contract: "Cursors are the same in all processes: where one has come to, another goes on.",
			try: func(k *kit) {
				other := k.Another(k.t, k.log)
				start := k.head()
				k.append("a")
				k.must(other.Append(k.ctx, k.event("b", "1")), "Append in another process")
				k.append("c")
				mine, others := k.tail(k.log, start, 3), k.tail(other, start, 3)
				k.wantItems("a b c", mine, "Tail here")
				if !sameOrder(mine, others) {
					k.errorf("Tail here and in another process differ: events about [%s] and [%s]", items(mine), items(others))
					return
				}
				k.wantItems("b c", k.tail(other, mine[0].Cursor, 2), "Tail in another process from a place of here")
			}},
		{name: "processes at once", needs: another,
			contract: "As with one process: nothing is lost, nothing comes twice, and all get the same order.",
			try: func(k *kit) {
				other := k.Another(k.t, k.log)
				w := newWorld(k, k.log, other)
				if runnerOf(k.log) == nil {
					w.run(k.log.Append, other.Append)
					return
				}
				w.run(w.inTx(k.log), w.inTx(other))
			}},
		{name: "restored backup", needs: backup,
			contract: "A place that a restored backup has lost is ErrExpired, also when the log has gone on and " +
				"has given its number to another event. Places from before go on, or are ErrExpired as well.", try: tryBackup},
	}
}

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
		k.expired(log, e.Cursor, "behind "+e.ID+", which is lost,")
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
		k.expired(log, e.Cursor, "behind "+e.ID+", which is lost and whose number is taken,")
	}
}
