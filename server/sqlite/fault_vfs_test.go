package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A fault decides about one file operation ("write", "sync", "read") on the file of that base name:
// 0 lets it happen, a result code of SQLite fails it.
type faultFunc func(operation, file string) int32

// faultVFS stands between SQLite and the operating system in this process: a VFS that is the
// default one but for the methods below.
var faultVFS struct {
	sync.Mutex
	fault faultFunc
	open  openMethod
	files map[uintptr]openFileState
	ours  map[uintptr]uintptr // their table of methods to the one that stands before it
}

type openFileState struct {
	name     string // without its directory
	original fileMethods
}

type (
	openMethod  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	closeMethod = func(tls *libc.TLS, file uintptr) int32
	dataMethod  = func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32
	syncMethod  = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// fileMethods are those of a file that have one of ours before them.
type fileMethods struct {
	close       closeMethod
	read, write dataMethod
	sync        syncMethod
}

// injectFault puts f in force until the test ends or the returned function is called.
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

// installFaultVFS makes the VFS the default one. SQLite keeps it for the life of the process.
func installFaultVFS() {
	tls := libc.NewTLS()
	faultVFS.files, faultVFS.ours = map[uintptr]openFileState{}, map[uintptr]uintptr{}
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
	ours, ok := faultVFS.ours[table.FpMethods]
	if !ok {
		ours = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*original)))
		m := at[sqlite3.Tsqlite3_io_methods](ours)
		*m = *original
		m.FxClose, m.FxRead, m.FxWrite, m.FxSync = cFunc(closeFile), cFunc(readFile), cFunc(writeFile), cFunc(syncFile)
		faultVFS.ours[table.FpMethods] = ours
	}
	table.FpMethods = ours
	faultVFS.files[file] = openFileState{filepath.Base(libc.GoString(name)), fileMethods{
		close: goFunc[closeMethod](original.FxClose), read: goFunc[dataMethod](original.FxRead),
		write: goFunc[dataMethod](original.FxWrite), sync: goFunc[syncMethod](original.FxSync),
	}}
	return rc
}

func closeFile(tls *libc.TLS, file uintptr) int32 {
	faultVFS.Lock()
	theirs := faultVFS.files[file].original
	delete(faultVFS.files, file)
	faultVFS.Unlock()
	return theirs.close(tls, file)
}

func readFile(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	rc, theirs := faultFor("read", file)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return theirs.read(tls, file, data, n, offset)
}

func writeFile(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	rc, theirs := faultFor("write", file)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return theirs.write(tls, file, data, n, offset)
}

func syncFile(tls *libc.TLS, file uintptr, flags int32) int32 {
	rc, theirs := faultFor("sync", file)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	return theirs.sync(tls, file, flags)
}

// at is C memory as a Go type. It never moves, so that its address may be kept as an integer.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// goFunc and cFunc turn a declared function into what C keeps of it and back.
func goFunc[T any](p uintptr) T { return *(*T)(unsafe.Pointer(&struct{ uintptr }{p})) }
func cFunc[T any](f T) uintptr  { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }
