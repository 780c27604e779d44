package sqlite

import (
	"embed"
	"fmt"
	"io/fs"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Each file upgrades the schema from the previous version to the version of its number. PRAGMA
// user_version is the current version.
//
//go:embed migrations/*.sql
var migrations embed.FS

// A NewerError reports a database written by a later release. The database is unchanged.
type NewerError struct {
	Path    string
	Version int // schema version of the database
	Known   int // newest schema version of this release
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was written by a newer release (schema %d, this release supports up to %d)",
		e.Path, e.Version, e.Known)
}

var migrationFiles = func() []string {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return names
}()

// schemaVersion returns the schema version of a database, or a *NewerError.
func schemaVersion(conn *sqlite.Conn, path string) (int, error) {
	version, err := pragma(conn, "user_version")
	if err == nil && version > len(migrationFiles) {
		err = &NewerError{Path: path, Version: version, Known: len(migrationFiles)}
	}
	return version, err
}

// migrate upgrades the schema to the newest version, in one transaction.
func migrate(conn *sqlite.Conn, path string) error {
	version, err := schemaVersion(conn, path)
	if err != nil || version == len(migrationFiles) {
		return err
	}
	return transact(conn, func() error {
		for i := version; i < len(migrationFiles); i++ {
			script, err := migrations.ReadFile(migrationFiles[i])
			if err == nil {
				err = sqlitex.ExecuteScript(conn, fmt.Sprintf("%s;\nPRAGMA user_version = %d;", script, i+1), nil)
			}
			if err != nil {
				return fmt.Errorf("migrate to schema %d: %w", i+1, err)
			}
		}
		return nil
	})
}

// migrate upgrades the schema of the store, and lets the database give space back. used: the
// directory was used before, so a database without a schema is not a new one.
func (s *Store) migrate(dir string, used bool) error {
	version, err := schemaVersion(s.writer.conn, s.path)
	if err != nil {
		return err
	}
	if version == 0 && used {
		return &MissingError{Dir: dir}
	}
	if newest := len(migrationFiles); version > 0 && version < newest {
		s.log.Info("upgrade the database; the release that wrote it can no longer open it",
			"path", s.path, "schema", version, "to", newest)
	}
	if err := migrate(s.writer.conn, s.path); err != nil {
		return err
	}
	return s.enableAutoVacuum()
}

// pragma returns the integer value of a pragma.
func pragma(conn *sqlite.Conn, name string) (value int, err error) {
	err = prepare(conn, "PRAGMA "+name).one(func(q *statement) error {
		value = int(q.intAt(0))
		return nil
	})
	return value, wrap(err, "read %s", name)
}
