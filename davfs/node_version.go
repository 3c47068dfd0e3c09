package davfs

import (
	"context"
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
	name := strconv.FormatInt(number, 10)
	return formFile{n.scope, name + ".json", typeJSON, func(ctx context.Context) (*engine.Resource, error) {
		versions, err := n.engine.Routes.RouteVersions(ctx, n.by, n.route)
		if err != nil {
			return nil, err
		}
		for i := range versions {
			if versions[i].Name == name {
				return &versions[i], nil
			}
		}
		return nil, absent()
	}}
}
