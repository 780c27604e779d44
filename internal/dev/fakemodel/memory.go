package fakemodel

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// RoundTrip implements http.RoundTripper without a network, so that a test can run in a synctest
// bubble. The context of the Script ends when the client closes the body.
func (h *Handler) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	out, in := io.Pipe()
	w := &memoryWriter{header: http.Header{}, body: in, started: make(chan struct{})}
	served := req.Clone(ctx)
	go func() {
		defer cancel()
		defer func() {
			err := error(nil)
			if r := recover(); r != nil {
				if r != http.ErrAbortHandler {
					panic(r)
				}
				err = io.ErrUnexpectedEOF
			}
			w.WriteHeader(http.StatusOK)
			_ = in.CloseWithError(err)
		}()
		h.ServeHTTP(w, served)
	}()
	select {
	case <-w.started:
	case <-req.Context().Done():
		_ = out.Close()
		return nil, req.Context().Err()
	}
	context.AfterFunc(req.Context(), func() { _ = out.CloseWithError(req.Context().Err()) })
	return &http.Response{
		StatusCode: w.status, Header: w.header, Body: memoryBody{out, cancel}, Request: req,
		ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// memoryBody is the body of a response in memory.
type memoryBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b memoryBody) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}

// memoryWriter is the http.ResponseWriter of a response in memory.
type memoryWriter struct {
	header  http.Header
	body    io.Writer
	once    sync.Once
	status  int
	started chan struct{}
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status = status
		close(w.started)
	})
}

func (w *memoryWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

func (w *memoryWriter) Flush() { w.WriteHeader(http.StatusOK) }
