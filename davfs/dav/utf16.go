package dav

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// wide returns the order of the bytes of a body in UTF-16, nil if it is not in
// UTF-16: by its byte order mark, or by the "<" that a body begins with.
func wide(body []byte) binary.ByteOrder {
	for _, begin := range []struct {
		with  string
		order binary.ByteOrder
	}{{"\xfe\xff", binary.BigEndian}, {"\xff\xfe", binary.LittleEndian}, {"\x00<", binary.BigEndian}, {"<\x00", binary.LittleEndian}} {
		if bytes.HasPrefix(body, []byte(begin.with)) {
			return begin.order
		}
	}
	return nil
}

// fromUTF16 returns a body in UTF-16 as UTF-8, and any other as it is. Half a
// character at the end becomes U+FFFD, which no element of WebDAV has.
func fromUTF16(body []byte) []byte {
	order := wide(body)
	if order == nil {
		return body
	}
	units := make([]uint16, 0, len(body)/2)
	for i := 0; i+1 < len(body); i += 2 {
		units = append(units, order.Uint16(body[i:]))
	}
	if len(body)%2 != 0 {
		units = append(units, utf8.RuneError)
	}
	return []byte(string(utf16.Decode(units)))
}
