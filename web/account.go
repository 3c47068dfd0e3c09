package web

func accountPages() []page {
	return []page{{pattern: "/account", draw: drawAccount}}
}

// accountView is what account.html shows.
type accountView struct{ Me Person }

func drawAccount(x *visit) error {
	h := head{Title: "Account", Nav: "account", Path: "/dav/Account", JSON: "/dav/Account/me.json", Narrow: true}
	return x.draw("account.html", h, accountView{Me: x.Queries.Person(string(x.by.Name))})
}
