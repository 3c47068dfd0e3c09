package machine

import "flowdrive/internal/document"

// appendParent appends what the form of a case says of its parent and of its
// newest children.
func (f *Family) appendParent(b []byte) []byte {
	if f.Parent == 0 {
		b = append(b, `,"parent":null,"parentAction":null`...)
	} else {
		b = appendInt(b, `,"parent":`, f.Parent)
		b = appendString(b, `,"parentAction":`, f.ParentAction)
	}
	b = append(b, `,"children":[`...)
	for i := range f.Children {
		line := &f.Children[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendInt(b, `{"id":`, line.ID)
		b = appendString(b, `,"route":`, line.Route)
		b = appendString(b, `,"state":`, string(line.Life))
		b = appendTextOrNull(append(b, `,"status":`...), line.Status)
		b = append(document.AppendString(append(b, `,"action":`...), line.Action), '}')
	}
	return append(b, ']')
}
