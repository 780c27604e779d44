package tool

// faultyFiles are the files of the system. The function is called before each operation, with the
// name of the file; if it returns an error, the operation fails with it.
type faultyFiles func(operation, name string) error

var _ fileOperations = faultyFiles(nil)

func (f faultyFiles) write(st *step, staged string) error {
	st.staged = staged
	return f.unlessFaulty("write", st, func() error { return osFiles{}.write(st, staged) })
}

func (f faultyFiles) link(st *step, backup string) error {
	return f.unlessFaulty("link", st, func() error { return osFiles{}.link(st, backup) })
}

func (f faultyFiles) commit(st *step) error {
	return f.unlessFaulty("commit", st, func() error { return osFiles{}.commit(st) })
}

func (f faultyFiles) restore(st *step) error {
	return f.unlessFaulty("restore", st, func() error { return osFiles{}.restore(st) })
}

// unlessFaulty calls do unless f fails the operation.
func (f faultyFiles) unlessFaulty(operation string, st *step, do func() error) error {
	if err := f(operation, st.place.name); err != nil {
		return err
	}
	return do()
}
