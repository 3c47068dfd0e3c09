package davfs

import (
	"context"
	"io"
	"strconv"
	"strings"

	"flowdrive/engine"
)

// versionsFolder is Routes/<route>/Versions/: every version ever stored.
type versionsFolder struct {
	*scope
	route string
}

func (n versionsFolder) stat(ctx context.Context) (*info, error) {
	about, err := dropFolder(n).stat(ctx)
	if err != nil {
		return nil, err
	}
	return folderInfo("Versions", about.modified), nil
}

func (n versionsFolder) child(_ context.Context, name string) (node, error) {
	stem, ext, _ := strings.Cut(name, ".")
	number, ok := parseID(stem)
	if !ok {
		return nil, absent()
	}
	if same(ext, "json") {
		return n.version(number), nil
	}
	if same(ext, "yaml") || same(ext, "yml") {
		return versionSource{n.scope, n.route, number, "." + ext}, nil
	}
	if at := n.picture(name, stem, n.drawn(number)); at != nil {
		return at, nil
	}
	return nil, absent()
}

func (n versionsFolder) list(ctx context.Context) ([]*info, error) {
	versions, err := n.engine.Routes.RouteVersions(ctx, n.by, n.route)
	if err != nil {
		return nil, err
	}
	out := make([]*info, len(versions))
	for i := range versions {
		out[i] = formInfo(versions[i].Name+".json", &versions[i])
	}
	return out, nil
}

// version is the complete form of one version, read-only.
func (n versionsFolder) version(number int64) formFile {
	return formFile{n.scope, strconv.FormatInt(number, 10) + ".json", typeJSON, func(ctx context.Context) (*engine.Resource, error) {
		return n.engine.Routes.RouteVersion(ctx, n.by, n.route, number)
	}}
}

// versionSource is a version of a route that was stored as YAML, as it was stored:
// with its comments. It is read-only.
type versionSource struct {
	*scope
	route  string
	number int64
	ext    string
}

func (n versionSource) load(ctx context.Context) (*info, []byte, error) {
	v, err := n.engine.Routes.RouteVersion(ctx, n.by, n.route, n.number)
	if err != nil {
		return nil, nil, err
	}
	if !v.YAML {
		return nil, nil, absent()
	}
	return sourceInfo(v.Name+n.ext, sourceType(n.ext), v), v.Source, nil
}

func (n versionSource) stat(ctx context.Context) (*info, error) {
	about, _, err := n.load(ctx)
	return about, err
}

func (n versionSource) open(ctx context.Context) (*info, io.ReadSeekCloser, error) {
	about, source, err := n.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	return about, contentOf(source), nil
}
