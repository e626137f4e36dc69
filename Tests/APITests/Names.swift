import API
import Testing

@Suite struct `a name that was mistyped` {
    static let names = ["backup", "disk-check", "digest", "a"]

    @Test(arguments: [
        ("bakcup", "backup"), ("backu", "backup"), ("backups", "backup"), ("disk_chek", "disk-check"),
        ("digets", "digest"),
    ])
    func `is corrected when little is wrong`(typed: String, meant: String) {
        #expect(NearestName.hint(typed, among: Self.names) == "Did you mean \"\(meant)\"?")
    }

    @Test(arguments: ["restore", "", "backup", "xyz"])
    func `is left alone when nothing is like it, or nothing is wrong`(typed: String) {
        let hint = NearestName.of(typed, among: Self.names)
        #expect(hint == nil || hint == "a" && typed.count <= 1)
    }
}
