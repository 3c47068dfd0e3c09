package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"flowdrive/attach"
	"flowdrive/attach/bucket"
	"flowdrive/engine/contents"
	"flowdrive/internal/errs"
	"flowdrive/store"
	"flowdrive/store/contentrows"
	"flowdrive/store/postgres"
)

// registerContents registers the flag that says where contents are to lie.
func registerContents(flags *pflag.FlagSet, address *string) {
	flags.StringVar(address, "contents", "", "where contents lie: s3://bucket/prefix?endpoint=https://host:port&region=name, with the key in\nAWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (default: files in the data folder, or where they were put before)")
}

// contentsAddress reads --contents. It returns nil if that is not set.
func contentsAddress(text string) (*bucket.Address, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no address is not an error
	}
	a, err := bucket.ParseAddress(text, cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")))
	if err == nil && a.Endpoint == "" {
		a.Endpoint = cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
		a, err = bucket.ParseAddress(a.String(), "")
	}
	if err != nil {
		return nil, configError{fmt.Errorf("--contents: %w", err)}
	}
	return &a, nil
}

// openBucket opens a bucket for who has the keys in the environment.
func openBucket(l attach.Location, local *attach.Folder) (*bucket.Bucket, error) {
	a, err := bucket.ParseAddress(l.At, "")
	if err != nil {
		return nil, fmt.Errorf("where the contents lie: %w", err)
	}
	return bucket.New(bucket.Config{
		Address: a, Owner: l.ID, Key: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"), Token: os.Getenv("AWS_SESSION_TOKEN"),
	}, local)
}

// placeOfContents returns where the contents of a data folder lie, to be read beside a server.
func placeOfContents(data string) (attach.Place, error) {
	folder := attach.At(filepath.Join(data, contentsName))
	l, err := folder.Location()
	if err != nil || l.At == "" {
		return folder, err
	}
	return openBucket(l, folder)
}

// openContents opens where contents lie, for the server that stores them: a bucket, or at
// home. What is on its way waits in the local folder. If contents lie nowhere yet, they will
// lie where --contents says. A bucket that does not answer is not an error if contents are in it:
// requests are told until it does.
func (s *settings) openContents(home attach.Home, local *attach.Folder, log zerolog.Logger) (attach.Keeper, error) {
	asked, err := contentsAddress(s.contents)
	if err != nil {
		return nil, err
	}
	l, err := home.Location()
	switch {
	case err != nil:
		return nil, err
	case l.At != "":
		return reopenContents(home, asked, local, log)
	case asked == nil:
		return home, nil
	}
	switch has, err := hasContents(home); {
	case err != nil:
		return nil, err
	case has:
		return nil, configError{errors.New("--contents: there are contents already that do not lie there; leave --contents out, or restore a backup into a new folder with: flowdrive restore --contents")}
	}
	return claimContents(home, *asked, local)
}

// hasContents reports whether a content lies at the place.
func hasContents(place attach.Place) (bool, error) {
	has := errors.New("there is one")
	err := place.Walk(context.Background(), func(f attach.Found) error {
		if f.Own {
			return has
		}
		return nil
	})
	if errors.Is(err, has) {
		return true, nil
	}
	return false, err
}

// claimContents begins to keep contents in a bucket. What was noted of it is forgotten
// if it cannot be used.
func claimContents(home attach.Home, at bucket.Address, local *attach.Folder) (attach.Keeper, error) {
	// The id is durable before anything is known by it.
	l := attach.Location{At: at.String(), ID: store.NewUUID().String()}
	b, err := openBucket(l, local)
	if err != nil {
		return nil, err
	}
	if err := home.SetLocation(l); err != nil {
		return nil, err
	}
	if err := b.Claim(); err != nil {
		return nil, errors.Join(unclaimed{refusedContents(err)}, home.SetLocation(attach.Location{}))
	}
	return b, nil
}

// unclaimed says why contents cannot begin to lie in a bucket.
type unclaimed struct{ error }

func (e unclaimed) Unwrap() error { return e.error }

// isUnclaimed reports whether a bucket in which contents are to lie does not answer.
func isUnclaimed(err error) bool {
	var u unclaimed
	return errors.As(err, &u) && errs.Is(u, errs.Unavailable)
}

// reopenContents opens the bucket in which contents lie. Its address may have changed, if
// there are the same contents at the new one.
func reopenContents(home attach.Home, asked *bucket.Address, local *attach.Folder, log zerolog.Logger) (attach.Keeper, error) {
	l, err := home.Location()
	if err != nil {
		return nil, err
	}
	was := l.At
	if asked != nil {
		l.At = asked.String()
	}
	b, err := openBucket(l, local)
	if err != nil {
		return nil, err
	}
	err = b.Check()
	_, refused := bucket.AsRefused(err)
	switch {
	case l.At != was && err != nil:
		return nil, configError{fmt.Errorf("--contents: the contents lie in %s, and not there: %w", was, refusedContents(err))}
	case refused:
		return nil, refusedContents(err)
	case err != nil:
		log.Warn().Err(err).Msg("contents: the store in which they lie does not answer; until it does, requests for them are answered with 503")
	case l.At != was:
		return b, home.SetLocation(l)
	}
	return b, nil
}

// refusedContents makes a fault of the settings of what trying again does not help.
func refusedContents(err error) error {
	if refused, ok := bucket.AsRefused(err); ok {
		return configError{fmt.Errorf("--contents: %w", refused)}
	}
	return err
}

// restoreContents returns what opens where the contents of a restored data folder are to
// lie, nil for in that folder.
func restoreContents(address string) (func(folder string) (contents.Files, error), error) {
	asked, err := contentsAddress(address)
	if err != nil || asked == nil {
		return nil, err
	}
	return func(folder string) (contents.Files, error) {
		local, err := attach.Open(folder)
		if err != nil {
			return nil, err
		}
		return claimContents(local, *asked, local)
	}, nil
}

// openContents opens where the contents of the data folder lie, or those of the database
// that nodes share.
func (a *app) openContents(ctx context.Context) error {
	local, err := attach.Open(filepath.Join(a.settings.data, contentsName))
	if err != nil {
		return err
	}
	var home attach.Home = local
	if shared, ok := any(a.db).(*postgres.DB); ok {
		to, guard, err := shared.Beside()
		if err != nil {
			return err
		}
		if a.rows, err = contentrows.Open(ctx, to, guard, local, shared.NoteFull); err != nil {
			return err
		}
		home = a.rows
	}
	a.contents, err = a.settings.openContents(home, local, a.log)
	return err
}
