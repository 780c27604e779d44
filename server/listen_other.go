//go:build !unix

package server

import (
	"errors"
	"net"
)

const maxSocketPath = 107

func listenPrivate(string) (net.Listener, error) { return nil, errors.ErrUnsupported }
