package wirelog

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"agentctl/internal/redact"
	"agentctl/wsclient"
)

const (
	// MaxSize is the size limit of a file, in bytes.
	MaxSize = 64 << 20

	// maxQueued and maxQueuedFrames bound the frames that wait for the file: their bytes, and their
	// number.
	maxQueued       = 8 << 20
	maxQueuedFrames = 4096
)

// A Log writes frames to a file. It is safe for concurrent use.
type Log struct {
	file io.WriteCloser // used only by run, until it has returned
	size int64          // of the file; owned by run
	done chan struct{}  // closed when run has returned
	err  error          // of the file, set before done is closed

	mu       sync.Mutex
	redactor *redact.Messages
	queue    []wsclient.Frame // recorded and not taken by run
	queued   int              // bytes of their data
	dropped  int              // frames dropped since the queue was taken
	closed   bool
	wake     chan struct{} // has a value if run has something to do
}

// Open opens a file to which frames are appended, mode 0600. It creates the file, or takes a regular
// file that this user owns. Links, files of others, and files that have their MaxSize are refused.
// The caller closes the log.
func Open(path string) (*Log, error) {
	file, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return start(file, size), nil
}

// start returns a log of an open file that has a size.
func start(file io.WriteCloser, size int64) *Log {
	l := &Log{
		file: file, size: size, redactor: redact.NewMessages(nil),
		done: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	go l.run()
	return l
}

// Hide hides the given secrets in frames that are written from now on, in addition to text that
// looks like a credential. It replaces the secrets of an earlier call.
func (l *Log) Hide(secrets ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.redactor = redact.NewMessages(secrets)
}

// Record queues a frame, whose data must not be changed afterwards. It never waits for the file: if
// the queue is full, the frame is dropped, and the next line has the number of dropped frames.
func (l *Log) Record(f wsclient.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if n := len(l.queue); n >= maxQueuedFrames || n > 0 && l.queued+len(f.Data) > maxQueued {
		l.dropped++
		return
	}
	l.queue, l.queued = append(l.queue, f), l.queued+len(f.Data)
	l.signal()
}

// signal wakes run. Its caller holds mu.
func (l *Log) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Close writes the queued frames, closes the file, and returns the first error of the file. It
// waits for the file. Frames that are recorded later are ignored.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closed = true
	l.signal()
	l.mu.Unlock()
	<-l.done
	return l.err
}

// run writes frames until the log is closed, or the file takes no more.
func (l *Log) run() {
	defer close(l.done)
	full := false
	for range l.wake {
		frames, dropped, redactor, closed := l.take()
		if l.err == nil && !full {
			full, l.err = l.write(frames, dropped, redactor)
		}
		if closed {
			if err := l.file.Close(); err != nil && l.err == nil {
				l.err = fmt.Errorf("close the log of the connection: %w", err)
			}
			return
		}
	}
}

// take empties the queue.
func (l *Log) take() (frames []wsclient.Frame, dropped int, r *redact.Messages, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	frames, dropped = l.queue, l.dropped
	l.queue, l.queued, l.dropped = nil, 0, 0
	return frames, dropped, l.redactor, l.closed
}

// write appends frames to the file. full reports that the file has reached its size limit, which
// its last line states.
func (l *Log) write(frames []wsclient.Frame, dropped int, r *redact.Messages) (full bool, err error) {
	var out []byte
	for _, f := range frames {
		for _, line := range linesOf(f, r) {
			before := len(out)
			if out = line.append(out); l.size+int64(len(out)) > MaxSize-maxNote {
				end := note("the file has its size limit, and the log ends")
				return true, l.flush(end.append(out[:before]))
			}
		}
	}
	if dropped > 0 {
		lost := note("messages came faster than the file took them")
		lost.Dropped = dropped
		out = lost.append(out)
	}
	return false, l.flush(out)
}

// maxNote bounds a line about the log itself, in bytes.
const maxNote = 256

func note(text string) *line { return &line{Time: time.Now(), Note: text} }

func (l *Log) flush(b []byte) error {
	n, err := l.file.Write(b)
	l.size += int64(n)
	if err != nil {
		return fmt.Errorf("write the log of the connection: %w", err)
	}
	return nil
}

// ErrFull is the error of a file that has its MaxSize.
var ErrFull = errors.New("the file has its 64 MiB: name another one")
