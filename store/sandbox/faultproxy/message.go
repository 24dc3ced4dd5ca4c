package faultproxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// The first messages of a connection have no type byte; these are told by their code.
const (
	cancelRequest = 80877102
	sslRequest    = 80877103
	gssRequest    = 80877104
)

// largest bounds one message; jobtop's are far below it.
const largest = 64 << 20

var errTooLarge = errors.New("a message is too large, or none of PostgreSQL's")

// readMessage reads one message, whole.
func readMessage(r io.Reader) ([]byte, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	return readRest(r, head, int(binary.BigEndian.Uint32(head[1:]))+1)
}

// readStartup reads the first message of a connection, and its code.
func readStartup(r io.Reader) (message []byte, code uint32, err error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, 0, err
	}
	message, err = readRest(r, head, int(binary.BigEndian.Uint32(head)))
	return message, binary.BigEndian.Uint32(head[4:]), err
}

func readRest(r io.Reader, head []byte, size int) ([]byte, error) {
	if size < len(head) || size > largest {
		return nil, errTooLarge
	}
	message := make([]byte, size)
	copy(message, head)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}

// queryText is the SQL of a Query or a Parse message.
func queryText(message []byte) string {
	body := message[5:]
	if message[0] == 'P' { // after the statement's name
		_, body, _ = bytes.Cut(body, []byte{0})
	}
	text, _, _ := bytes.Cut(body, []byte{0})
	return string(text)
}

// committed reports whether a message of the server says that a COMMIT succeeded.
func committed(message []byte) bool {
	return message[0] == 'C' && bytes.Equal(message[5:], []byte("COMMIT\x00"))
}
