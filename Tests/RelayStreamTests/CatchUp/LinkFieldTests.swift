import Testing

@testable import RelayStream

struct LinkFieldTests {
    @Test(arguments: [
        (["</e?p=2>; rel=\"next\""], "/e?p=2"),
        (["<https://h/e?p=2>;rel=next"], "https://h/e?p=2"),
        (["</a>; rel=\"prev\", </b>; rel=\"next\""], "/b"),
        (["</a>; rel=\"prev\"", "</b,c;d>; title=\"x, <y>; rel=next\" ; REL = \"last Next\""], "/b,c;d"),
        (["</a>; rel=\"last\"; rel=\"next\", </b>; rel=\"next\""], "/b"),
        (["</a>; title=\"a \\\"quoted\\\" >\"; rel=next"], "/a"),
        ([", ,</a> ; flag ; rel=next"], "/a"),
        (["<>; rel=next"], ""),
        (["</a>; rel=\"nextone\""], nil),
        (["</a>"], nil),
        (["/a; rel=next"], nil),
        (["</a; rel=next"], nil),
        (["</a>; rel=\"next"], nil),
        (["</a> rel=next"], nil),
        (["</a>; rel=\"prev\" junk, </b>; rel=next"], nil),
        ([], nil),
        ([""], nil),
    ])
    func targetOfTheRelationNextIsFound(_ fields: [String], _ expected: String?) {
        #expect(LinkField.next(in: fields) == expected)
    }

    @Test func longFieldTakesLinearTime() {
        let field = String(repeating: "</a>; rel=prev, ", count: 4000) + "</b>; rel=next"
        #expect(LinkField.next(in: [field]) == "/b")
    }
}
