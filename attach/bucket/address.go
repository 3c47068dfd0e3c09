package bucket

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Address says where contents lie in a store that speaks S3.
type Address struct {
	Bucket   string
	Prefix   string // without slashes around it; "" for none
	Endpoint string // with the scheme; "" for that of Amazon in the region
	Region   string
}

// defaultRegion is the region of stores that have none.
const defaultRegion = "us-east-1"

// ParseAddress reads s3://bucket/prefix?endpoint=https://host:port&region=name. The
// region is the given one if the address names none, and us-east-1 if that is empty.
// It returns an error in words for people if anything else is in the address.
func ParseAddress(text, region string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Address{}, errors.New("this is not a valid address; it begins with s3://, then come bucket and prefix") // err repeats the text, which may have a password
	}
	query, err := url.ParseQuery(u.RawQuery)
	a := Address{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), Endpoint: query.Get("endpoint"), Region: query.Get("region")}
	switch {
	case u.User != nil:
		return Address{}, errors.New("an address has no access key in it; give that in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	case u.Scheme != "s3" || a.Bucket == "" || u.Fragment != "" || err != nil:
		return Address{}, errors.New("this is not a valid address; write s3://bucket/prefix?endpoint=https://host:port&region=name")
	}
	for name, values := range query {
		if name != "endpoint" && name != "region" || len(values) > 1 {
			return Address{}, fmt.Errorf("%q is not a setting of an address, or there is more than one; it may have endpoint= and region=, each once", name)
		}
	}
	if a.Region == "" {
		a.Region = region
	}
	if a.Region == "" {
		a.Region = defaultRegion
	}
	return a, a.checkEndpoint()
}

func (a *Address) checkEndpoint() error {
	if a.Endpoint == "" {
		return nil
	}
	if !strings.Contains(a.Endpoint, "://") {
		a.Endpoint = "https://" + a.Endpoint
	}
	u, err := url.Parse(a.Endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return errors.New("the endpoint is not a valid address; write endpoint=https://host:port, without a path")
	}
	a.Endpoint = u.Scheme + "://" + u.Host
	return nil
}

// String returns the address as ParseAddress reads it.
func (a Address) String() string {
	query := url.Values{"region": {a.Region}}
	if a.Endpoint != "" {
		query.Set("endpoint", a.Endpoint)
	}
	// Colons and slashes mean nothing in a query, and people read it.
	text := strings.NewReplacer("%3A", ":", "%2F", "/").Replace(query.Encode())
	return (&url.URL{Scheme: "s3", Host: a.Bucket, Path: a.Prefix, RawQuery: text}).String()
}

// Same reports whether both name the same place.
func (a Address) Same(b Address) bool { return a == b }

// endpoint returns the host and whether it is asked by HTTPS.
func (a Address) endpoint() (host string, secure bool) {
	if a.Endpoint == "" {
		return "s3." + a.Region + ".amazonaws.com", true
	}
	scheme, host, _ := strings.Cut(a.Endpoint, "://")
	return host, scheme == "https"
}
