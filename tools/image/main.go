// Command image writes an image of the server as an OCI archive: a static program on
// an empty base, for several machines. The same input gives the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// userID is who the server is in a container: nobody with rights on the host.
const userID = 65532

// programs are the -program flags: machine=file.
type programs []string

func (p *programs) String() string { return strings.Join(*p, " ") }
func (p *programs) Set(text string) error {
	if machine, file, ok := strings.Cut(text, "="); !ok || machine == "" || file == "" {
		return errors.New("must be MACHINE=FILE, such as amd64=flowdrive")
	}
	*p = append(*p, text)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run() error {
	var from programs
	flag.Var(&from, "program", "MACHINE=FILE: a static program; may be repeated")
	out := flag.String("out", "", "the archive")
	version := flag.String("version", "", "of the program")
	seconds := flag.Int64("created", 0, "when, in seconds since 1970")
	roots := flag.String("roots", "", "file with the certificates that are trusted")
	flag.Parse()
	if len(from) == 0 || *out == "" {
		return errors.New("give -program and -out")
	}
	created := time.Unix(*seconds, 0).UTC()
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, text := range from {
		machine, file, _ := strings.Cut(text, "=")
		image, err := imageOf(file, *roots, machine, *version, created)
		if err != nil {
			return fmt.Errorf("%s: %w", machine, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: machine}},
		})
	}
	// The archive has one image, which is that of each machine: of several, a reader asks
	// for one by its name. "podman load" and "docker load" take the name from here, each
	// from an annotation of its own.
	name := "flowdrive:" + *version
	one := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{
			"org.opencontainers.image.ref.name": name,
			"io.containerd.image.name":          "docker.io/library/" + name,
		}},
	})
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if _, err := layout.Write(folder, one); err != nil {
		return err
	}
	return archive(*out, folder, created)
}

// imageOf makes the image of one machine.
func imageOf(program, roots, machine, version string, created time.Time) (v1.Image, error) {
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	add := func(h tar.Header, body []byte) error {
		h.ModTime, h.Size, h.Format = created, int64(len(body)), tar.FormatPAX
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		_, err := w.Write(body)
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var trusted []byte
	if roots != "" {
		if trusted, err = os.ReadFile(roots); err != nil {
			return nil, err
		}
	}
	err = errors.Join(
		add(tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o700, Uid: userID, Gid: userID}, nil),
		add(tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil),
		// Docker makes a folder that is not in the layer so that only root can enter it.
		add(tar.Header{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755}, nil),
		add(tar.Header{Typeflag: tar.TypeDir, Name: "etc/ssl/", Mode: 0o755}, nil),
		add(tar.Header{Typeflag: tar.TypeDir, Name: "etc/ssl/certs/", Mode: 0o755}, nil),
		add(tar.Header{Typeflag: tar.TypeDir, Name: "usr/", Mode: 0o755}, nil),
		add(tar.Header{Typeflag: tar.TypeDir, Name: "usr/bin/", Mode: 0o755}, nil),
		add(tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, fmt.Appendf(nil, "flowdrive:x:%d:%d::/data:/\n", userID, userID)),
		add(tar.Header{Typeflag: tar.TypeReg, Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, trusted),
		add(tar.Header{Typeflag: tar.TypeReg, Name: "usr/bin/flowdrive", Mode: 0o755}, text),
		w.Close(),
	)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, configOf(image, machine, version, created))
}

func configOf(image v1.Image, machine, version string, created time.Time) *v1.ConfigFile {
	config, err := image.ConfigFile()
	if err != nil {
		panic(err) // it was made a moment ago
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", machine, v1.Time{Time: created}
	config.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", userID, userID), WorkingDir: "/data",
		Entrypoint: []string{"/usr/bin/flowdrive"}, Cmd: []string{"serve"},
		Env: []string{
			"PATH=/usr/bin", "FLOWDRIVE_DATA=/data",
			// A port of the container is what its operator makes of it: TLS is before it.
			"FLOWDRIVE_ADDR=:8080", "FLOWDRIVE_INSECURE_HTTP=true",
		},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, Volumes: map[string]struct{}{"/data": {}},
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/usr/bin/flowdrive", "healthcheck"}, Interval: 30 * time.Second, Timeout: 10 * time.Second, StartPeriod: 10 * time.Second},
		StopSignal:  "SIGTERM",
		Labels: map[string]string{
			"org.opencontainers.image.title": "flowdrive", "org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return config
}

// archive writes the files of a folder, in order, without what differs between machines.
func archive(out, folder string, created time.Time) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	w := tar.NewWriter(f)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(body)), ModTime: created, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = w.Write(body)
		return err
	})
	return errors.Join(err, w.Close())
}
