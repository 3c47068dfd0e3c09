// Package mediatype says of what type a file is by the extension of its name.
package mediatype

import (
	"path"
	"strings"
)

// Unknown is the media type of a file whose name does not tell it.
const Unknown = "application/octet-stream"

// Of returns the media type of a file by the extension of its name. The table
// is our own, so that every machine gives the same answer. Texts have no
// charset, because their contents have not been read.
func Of(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".text", ".log", ".ini", ".conf":
		return "text/plain"
	case ".csv":
		return "text/csv"
	case ".tsv", ".tab":
		return "text/tab-separated-values"
	case ".md", ".markdown":
		return "text/markdown"
	case ".htm", ".html":
		return "text/html"
	case ".css":
		return "text/css"
	case ".js", ".mjs":
		return "text/javascript"
	case ".ics":
		return "text/calendar"
	case ".vcf", ".vcard":
		return "text/vcard"
	case ".xml", ".xsd":
		return "application/xml"
	case ".xsl", ".xslt":
		return "application/xslt+xml"
	case ".xhtml":
		return "application/xhtml+xml"
	case ".json", ".map":
		return "application/json"
	case ".jsonl", ".ndjson":
		return "application/x-ndjson"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".toml":
		return "application/toml"
	case ".sql":
		return "application/sql"
	}
	return documentTypeOf(name)
}

// documentTypeOf knows what office programs write and mail programs keep.
func documentTypeOf(name string) string {
	const (
		office = "application/vnd.openxmlformats-officedocument."
		open   = "application/vnd.oasis.opendocument."
	)
	switch strings.ToLower(path.Ext(name)) {
	case ".pdf":
		return "application/pdf"
	case ".ps", ".eps":
		return "application/postscript"
	case ".rtf":
		return "application/rtf"
	case ".doc", ".dot":
		return "application/msword"
	case ".xls", ".xlt":
		return "application/vnd.ms-excel"
	case ".ppt", ".pps":
		return "application/vnd.ms-powerpoint"
	case ".docx":
		return office + "wordprocessingml.document"
	case ".xlsx":
		return office + "spreadsheetml.sheet"
	case ".pptx":
		return office + "presentationml.presentation"
	case ".odt":
		return open + "text"
	case ".ods":
		return open + "spreadsheet"
	case ".odp":
		return open + "presentation"
	case ".odg":
		return open + "graphics"
	case ".epub":
		return "application/epub+zip"
	case ".eml":
		return "message/rfc822"
	}
	return mediumTypeOf(name)
}

// mediumTypeOf knows pictures, sounds, films, archives and programs.
func mediumTypeOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".avif":
		return "image/avif"
	case ".tif", ".tiff":
		return "image/tiff"
	case ".bmp":
		return "image/bmp"
	case ".heic":
		return "image/heic"
	case ".svg":
		return "image/svg+xml"
	case ".ico":
		return "image/vnd.microsoft.icon"
	case ".mp3":
		return "audio/mpeg"
	case ".ogg", ".oga":
		return "audio/ogg"
	case ".wav":
		return "audio/vnd.wave"
	case ".mp4", ".m4v":
		return "video/mp4"
	case ".webm":
		return "video/webm"
	case ".mov":
		return "video/quicktime"
	case ".zip":
		return "application/zip"
	case ".gz", ".tgz":
		return "application/gzip"
	case ".tar":
		return "application/x-tar"
	case ".7z":
		return "application/x-7z-compressed"
	case ".zst":
		return "application/zstd"
	case ".woff2":
		return "font/woff2"
	case ".wasm":
		return "application/wasm"
	}
	return Unknown
}
