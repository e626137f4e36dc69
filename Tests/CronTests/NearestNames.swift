import Cron
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

    @Test(arguments: [
        ("berlin", "Europe/Berlin"), ("berln", "Europe/Berlin"), ("new yrk", "America/New_York"),
        ("Europe/Berln", "Europe/Berlin"), ("springfield", nil),
    ])
    func `is corrected to the zone of its town`(typed: String, meant: String?) {
        let zones = ["America/New_York", "Asia/Tokyo", "Europe/Berlin"]
        #expect(NearestName.ofZone(typed, among: zones) == meant)
    }

    @Test(arguments: ["restore", "", "backup", "xyz"])
    func `is left alone when nothing is like it, or nothing is wrong`(typed: String) {
        let hint = NearestName.of(typed, among: Self.names)
        #expect(hint == nil || hint == "a" && typed.count <= 1)
    }
}
