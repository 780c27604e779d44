// Package sqlite stores sessions in one SQLite database inside a data directory. It implements
// session.Store.
//
// It owns the database file, the write-ahead log and its checkpoints,
// the schema and its migrations, and the decision at Open whether the file still holds everything
// that was ever shown. It must not know the meaning of events: lines are stored and returned byte
// for byte.
//
// Durability: a commit always survives the death of the process. With Options.Sync set to Full it
// survives a power cut.
//
// Files: agentctl.db; its write-ahead log agentctl.db-wal and index agentctl.db-shm; lock, held
// while the store is open; generation, which distinguishes a database from an older copy of it;
// unclosed, there until a clean close, without which a missing log is a loss.
//
// Keys: the number n of a session (its rowid) and a seq form one integer, n<<40|seq. The chunks,
// folds and turns of a session are adjacent, and a range of seqs is a range of rowids.
//
// Chunks, folds, snapshots and long specs are compressed with S2 where that makes them shorter.
// Rows of the first schema are not, and stay as they are. A long spec is not in the row of its
// session, which is written with each summary. After the end of a turn its small chunks, of events
// that were committed one by one, are merged to larger ones, which compress far better.
//
// Damage: every row has a CRC-32C of its stored fields and its key, verified on every read. Every
// session has a head with the seqs of its last event and its snapshot, so missing events are
// detected. Events replace a missing fold. A missing row of a turn, decision, answer, blob or
// process group is not detected, nor is a session missing together with its head.
//
// Check names damage, Repair keeps readable data, Backup copies a database in use, and Restore
// makes a copy the database of a directory. They work while a Store is open, or hold the lock of
// the directory. A used directory without its database is refused, and so is one whose log is
// missing after an unclean stop.
//
// Removed sessions are overwritten with zeros, and their space is given back in small steps. The
// file system decides about the freed blocks of a shortened file.
//
// The SQLite library must be 3.51.3 or later. In older versions a commit that restarts the log
// during a checkpoint on another connection, as this package does, can corrupt the database.
package sqlite
