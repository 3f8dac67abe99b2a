class Deskbell < Formula
  desc "{{.About}}"
  homepage "{{.Homepage}}"
  url "{{.Release}}/{{.File}}"
  version "{{.Version}}"
  sha256 "{{.SHA256}}"
  license "Apache-2.0"

  depends_on arch: :x86_64
  depends_on :linux

  def install
    libexec.install Dir["*"]
    program = Dir[libexec/"**/deskbell"].find { |f| File.file?(f) && File.executable?(f) }
    bin.install_symlink program, File.join(File.dirname(program), "deskbell-hook")
  end

  def caveats
    "Deskbell needs your system's own GTK 3 and WebKitGTK 4.1."
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/deskbell --version")
  end
end
