// Package sqlite keeps sessions in one SQLite database inside a data directory. It satisfies session.Store.
//
// It owns the directory's lock, the database file, its write-ahead log and when that is checkpointed, the schema and its
// migrations, and the judgement at Open whether the file still holds everything that was ever shown. It must not know
// what an event means: lines are kept as they were encoded and handed back byte for byte.
//
// What a commit survives is Options.Sync: the death of the process always, a power cut with Full.
//
// Files: agentctl.db, its log agentctl.db-wal and index agentctl.db-shm; serving, locked while the store is open; generation,
// which tells a database from an older copy of it.
//
// Keys: a session's number n (its rowid) and a seq make one integer, n<<40|seq, so that a session's chunks, folds and
// turns lie side by side and a range of seqs is a range of rowids.
//
// Damage: every row carries a CRC-32C over all of its fields and its key, verified whenever the row is read, and every
// session a head that says how far its events and its snapshot go, so that missing events are noticed. A missing fold is
// made up for by its events. What goes unnoticed is a turn, decision, answer, blob or process group whose whole row is
// gone, and a session gone with its head.
//
// The library's SQLite must be 3.51.3 or later: before that, a commit that restarted the log beside a checkpoint on
// another connection, which is how this package works, could corrupt the database.
package sqlite
