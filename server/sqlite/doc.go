// Package sqlite keeps sessions in one SQLite database inside a data directory. It satisfies session.Store.
//
// It owns the directory's lock, the database file, its write-ahead log and when that is checkpointed, the schema and its
// migrations, and the judgement at Open whether the file still holds everything that was ever shown. It must not know
// what an event means: lines are kept as they were encoded and handed back byte for byte.
//
// What a commit survives is Options.Sync: the death of the process always, a power cut with Full.
//
// Where things are: a session's number n (its rowid) and a seq make one integer key, n<<40|seq, so that a session's
// chunks, folds and turns lie side by side and a range of seqs is a range of rowids. Every row carries a CRC-32C over
// all of its fields and its key, verified whenever the row is read.
package sqlite
