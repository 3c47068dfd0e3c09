package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"flowdrive/cmd/flowdrive/output"

	"golang.org/x/term"
)

// bufferedInput is the standard input, by lines.
type bufferedInput struct {
	from   io.Reader
	reader *bufio.Reader
}

func (in *bufferedInput) terminal() bool { return output.IsTerminal(in.from) }

func (in *bufferedInput) Read(p []byte) (int, error) {
	if in.reader != nil {
		return in.reader.Read(p)
	}
	return in.from.Read(p)
}

// line reads a line without its end.
func (in *bufferedInput) line() (string, error) {
	if in.reader == nil {
		in.reader = bufio.NewReader(in.from)
	}
	text, err := in.reader.ReadString('\n')
	if errors.Is(err, io.EOF) && text != "" {
		err = nil
	}
	return strings.TrimRight(text, "\r\n"), err
}

// secret reads a line that a terminal does not show.
func (in *bufferedInput) secret() (string, error) {
	f, ok := in.from.(*os.File)
	if !ok || !in.terminal() {
		return in.line()
	}
	text, err := term.ReadPassword(int(f.Fd()))
	return string(text), err
}

// ask asks a question on the terminal.
func (s *session) ask(question string) (string, error) {
	if _, err := fmt.Fprint(s.err, question+": "); err != nil {
		return "", err
	}
	text, err := s.read(s.in.line)
	if errors.Is(err, context.Canceled) {
		return "", errors.Join(err, s.say(""))
	}
	return strings.TrimSpace(text), err
}

// errNoAnswer says that the input has ended where an answer was asked for.
var errNoAnswer = errors.New("the input has ended before there was an answer")

// read reads an answer until the command is interrupted.
func (s *session) read(answer func() (string, error)) (string, error) {
	text, err := output.Await(s.cmd.Context(), s.in.from, answer)
	if errors.Is(err, io.EOF) {
		err = errNoAnswer
	}
	return text, err
}

// values reads the arguments of --set: key=text, or key:=JSON.
func (s *session) values(settings []string) (map[string]any, error) {
	if len(settings) == 0 {
		return nil, nil
	}
	values := map[string]any{}
	for _, setting := range settings {
		key, text, ok := strings.Cut(setting, "=")
		if !ok || key == "" || key == ":" {
			return nil, s.env.Usage(fmt.Errorf("--set %s: give it as key=text, or key:=value for a number, true, false, null or other JSON", setting))
		}
		name, isJSON := strings.CutSuffix(key, ":")
		if !isJSON {
			values[name] = text
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return nil, s.env.Usage(fmt.Errorf("--set %s: what follows := is not JSON: %w", setting, err))
		}
		values[name] = value
	}
	return values, nil
}

// source opens a file that is to be sent, or the standard input if its name is "-". The
// size of a stream is -1.
func (s *session) source(name string) (content io.Reader, size int64, done func() error, err error) {
	if name == "-" {
		return struct{ io.Reader }{s.in}, -1, func() error { return nil }, nil
	}
	f, err := s.env.Files(name)
	if err != nil {
		return nil, 0, nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder; give its files", name)
	}
	if err != nil {
		return nil, 0, nil, errors.Join(err, f.Close())
	}
	return f, info.Size(), func() error { return closeOnce(f) }, nil
}

// closeOnce closes a file that a request may have closed.
func closeOnce(f *os.File) error {
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// document reads a file, or the standard input if its name is "-".
func (s *session) document(name string) ([]byte, error) {
	content, _, done, err := s.source(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(content)
	return data, errors.Join(err, done())
}
