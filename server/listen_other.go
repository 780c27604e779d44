//go:build !unix

package server

import (
	"errors"
	"net"
)

func listenPrivate(string) (net.Listener, error) { return nil, errors.ErrUnsupported }
