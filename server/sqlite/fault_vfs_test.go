package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A faultFunc decides on one file operation ("write", "sync", "read") on the file with that base
// name. It returns 0 to allow the operation or a result code of SQLite to fail it.
type faultFunc func(operation, file string) int32

// faultVFS is a VFS between SQLite and the operating system. It is the default VFS with the methods
// below replaced.
var faultVFS struct {
	sync.Mutex
	fault   faultFunc
	open    openMethod
	files   map[uintptr]openFileState
	wrapped map[uintptr]uintptr // original method table to the replaced one
}

type openFileState struct {
	name     string // base name
	original fileMethods
}

type (
	openMethod  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	closeMethod = func(tls *libc.TLS, file uintptr) int32
	dataMethod  = func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32
	syncMethod  = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// fileMethods are the replaced methods of a file.
type fileMethods struct {
	close       closeMethod
	read, write dataMethod
	sync        syncMethod
}

// injectFault activates f until the test ends or stop is called.
func injectFault(t testing.TB, f faultFunc) (stop func()) {
	set := func(f faultFunc) {
		faultVFS.Lock()
		defer faultVFS.Unlock()
		faultVFS.fault = f
	}
	set(f)
	stop = func() { set(nil) }
	t.Cleanup(stop)
	return stop
}

func faultFor(operation string, file uintptr) (int32, fileMethods) {
	faultVFS.Lock()
	defer faultVFS.Unlock()
	opened := faultVFS.files[file]
	if faultVFS.fault == nil {
		return sqlite3.SQLITE_OK, opened.original
	}
	return faultVFS.fault(operation, opened.name), opened.original
}

// installFaultVFS makes faultVFS the default VFS of the process.
func installFaultVFS() {
	tls := libc.NewTLS()
	faultVFS.files, faultVFS.wrapped = map[uintptr]openFileState{}, map[uintptr]uintptr{}
	original := sqlite3.Xsqlite3_vfs_find(tls, 0)
	copied := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	vfs := at[sqlite3.Tsqlite3_vfs](copied)
	*vfs = *at[sqlite3.Tsqlite3_vfs](original)
	faultVFS.open = goFunc[openMethod](vfs.FxOpen)
	name, err := libc.CString("faults")
	if err != nil {
		panic(err)
	}
	vfs.FzName, vfs.FxOpen = name, cFunc(openFile)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, copied, 1); rc != sqlite3.SQLITE_OK {
		panic(rc)
	}
}

func openFile(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	rc := faultVFS.open(tls, vfs, name, file, flags, out)
	table := at[sqlite3.Tsqlite3_file](file)
	if rc != sqlite3.SQLITE_OK || table.FpMethods == 0 || name == 0 {
		return rc
	}
	faultVFS.Lock()
	defer faultVFS.Unlock()
	original := at[sqlite3.Tsqlite3_io_methods](table.FpMethods)
	wrapped, ok := faultVFS.wrapped[table.FpMethods]
	if !ok {
		wrapped = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*original)))
		m := at[sqlite3.Tsqlite3_io_methods](wrapped)
		*m = *original
		m.FxClose, m.FxRead, m.FxWrite, m.FxSync = cFunc(closeFile), cFunc(readFile), cFunc(writeFile), cFunc(syncFile)
		faultVFS.wrapped[table.FpMethods] = wrapped
	}
	table.FpMethods = wrapped
	faultVFS.files[file] = openFileState{filepath.Base(libc.GoString(name)), fileMethods{
		close: goFunc[closeMethod](original.FxClose), read: goFunc[dataMethod](original.FxRead),
		write: goFunc[dataMethod](original.FxWrite), sync: goFunc[syncMethod](original.FxSync),
	}}
	return rc
}

func closeFile(tls *libc.TLS, file uintptr) int32 {
	faultVFS.Lock()
	methods := faultVFS.files[file].original
	delete(faultVFS.files, file)
	faultVFS.Unlock()
	return methods.close(tls, file)
}

func readFile(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	rc, methods := faultFor("read", file)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return methods.read(tls, file, data, n, offset)
}

func writeFile(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	rc, methods := faultFor("write", file)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return methods.write(tls, file, data, n, offset)
}

func syncFile(tls *libc.TLS, file uintptr, flags int32) int32 {
	rc, methods := faultFor("sync", file)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return methods.sync(tls, file, flags)
}

// at returns C memory as a Go type. C memory never moves, so an integer can hold its address.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// goFunc and cFunc convert between a declared function and its C representation.
func goFunc[T any](p uintptr) T { return *(*T)(unsafe.Pointer(&struct{ uintptr }{p})) }
func cFunc[T any](f T) uintptr  { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }
