import Testing

@testable import Warden

@Suite struct `the kernel's figure of a child's largest size` {
    @Test(
        arguments: [
            (50_000, 10_000, 50_000), (11_025, 10_000, 11_025), (11_024, 10_000, nil), (10_000, 10_000, nil),
            (3000, 10_000, nil), (50_000, nil, nil),
        ] as [(Int, Int?, Int?)])
    func `is the child's only above what its parent had been`(said: Int, own: Int?, known: Int?) {
        var size = OwnSize { own }
        let result = size.known(said)
        #expect(result == known)
    }

    @Test func `is compared with a parent that has grown since the last child`() {
        var sizes = [10_000, 40_000]
        var size = OwnSize { sizes.removeFirst() }
        // The third is below what is known already: no need to look again.
        let known = [20_000, 30_000, 30_000].map { size.known($0) }
        #expect(known == [20_000, nil, nil] && sizes.isEmpty)
    }
}
