package web

import (
	"fmt"
	"image/color"
	"net/http"
	"net/url"
	"strings"

	"github.com/boombuler/barcode/qr"

	"flowdrive/engine/account"
	"flowdrive/internal/errs"
)

func factorPages() []page {
	return []page{{pattern: "/account/totp", draw: drawFactor, post: changeFactor}}
}

// factorView is what factor.html shows.
type factorView struct {
	Has     bool     // there is a second factor
	Secret  string   // of the one that is being set up, in base32
	Shown   string   // the same in groups of four
	Address string   // the same as authenticator programs read it
	Code    *qrCode  // of Address
	Codes   []string // recovery codes, shown this once
	Refuse  string   // why it was refused, "": it was not
}

// qrCode is a QR code to be drawn: a path of squares of size 1.
type qrCode struct {
	Size int
	Path string
}

func drawFactor(x *visit) error {
	v := &factorView{Has: x.Factors.HasFactor(x.by.ID)}
	if !v.Has {
		secret, _ := account.NewFactor(issuer(x), x.by.Name)
		if err := v.setUp(x, secret); err != nil {
			return err
		}
	}
	return v.draw(x)
}

func (v *factorView) draw(x *visit) error {
	return x.draw("factor.html", head{Title: "Second factor", Nav: "account", Narrow: true, Secret: true}, v)
}

// issuer is what authenticator programs call this server.
func issuer(x *visit) string { return "Flowdrive " + strings.ReplaceAll(x.r.Host, ":", " ") }

// setUp shows a secret.
func (v *factorView) setUp(x *visit, secret string) (err error) {
	v.Secret, v.Address = secret, account.FactorAddress(issuer(x), x.by.Name, secret)
	for i := 0; i < len(secret); i += 4 {
		v.Shown += secret[i:min(i+4, len(secret))] + " "
	}
	v.Shown = strings.TrimSpace(v.Shown)
	v.Code, err = drawQR(v.Address)
	return err
}

// drawQR returns the QR code of a text, with the margin that scanners need.
func drawQR(text string) (*qrCode, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, errs.Wrap("draw a QR code", err)
	}
	const margin = 4
	size := code.Bounds().Dx()
	var b strings.Builder
	for y := range size {
		for at := range size {
			if code.At(at, y) == color.Black {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", at+margin, y+margin)
			}
		}
	}
	return &qrCode{Size: size + 2*margin, Path: b.String()}, nil
}

// notFilledIn says what a form of the second factor lacks, "" if nothing.
func notFilledIn(sent url.Values) string {
	do, password, code := sent.Get("do"), sent.Get("password"), strings.TrimSpace(sent.Get("code"))
	switch {
	case do == "set" && password == "" && code == "":
		return "Your password is needed, and the code that the device shows."
	case do == "set" && password == "":
		return "Your password is needed."
	case do == "set" && code == "":
		return "The code that the device shows is needed."
	case do != "" && code == "":
		return "A code is needed: one that the device shows, or a recovery code."
	}
	return ""
}

// changeFactor sets the second factor up, removes it, or makes new recovery codes: none is a
// request to the drive, on which there are no codes.
func changeFactor(x *visit) error {
	if err := x.parseForm(); err != nil {
		return err
	}
	sent, ctx, v := x.r.PostForm, x.r.Context(), &factorView{}
	if err := checkFields("password secret code", sent); err != nil {
		return err
	}
	var err error
	do, lacks := sent.Get("do"), notFilledIn(sent)
	switch {
	case lacks != "":
		err = errs.New(errs.Invalid, "%s", lacks)
	case do == "set":
		v.Codes, err = x.Factors.SetFactor(ctx, x.by, sent.Get("password"), sent.Get("secret"), sent.Get("code"))
	case do == "remove":
		if err = x.Prove(ctx, x.by, func() error { return x.Factors.RemoveFactor(ctx, x.by, sent.Get("code")) }); err == nil {
			x.notices.put(x.token, notice{Text: "The second factor is removed."})
			return x.redirect("/account")
		}
	case do == "codes":
		err = x.Prove(ctx, x.by, func() (err error) { v.Codes, err = x.Factors.RenewRecovery(ctx, x.by, sent.Get("code")); return err })
	default:
		return missing("do")
	}
	e := asProblem(err)
	if err != nil && e == nil {
		return err
	}
	if e != nil {
		v.Refuse, x.status = e.Detail, x.Status(e.Kind)
		if e.Kind == errs.LogIn { // the browser is logged in: it is not to ask for a password
			x.status = http.StatusUnprocessableEntity
			if do == "set" { // there is no name in this form
				v.Refuse = "The password is wrong."
			}
		}
		if len(e.Faults) > 0 {
			v.Refuse = "The " + strings.TrimPrefix(e.Faults[0].Pointer, "/") + " " + e.Faults[0].Detail + "."
		}
	}
	if v.Has = x.Factors.HasFactor(x.by.ID); !v.Has {
		secret := sent.Get("secret")
		if len(secret) > 64 || secret == "" {
			secret, _ = account.NewFactor(issuer(x), x.by.Name)
		}
		if err := v.setUp(x, secret); err != nil {
			return err
		}
	}
	return v.draw(x)
}
