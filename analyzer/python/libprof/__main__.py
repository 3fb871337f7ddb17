"""python -m libprof install-kernel | VERB ...: makes a Jupyter kernel, or runs prof."""
import sys

from ._installation import main
from ._kernel import install_kernel

if len(sys.argv) > 1 and sys.argv[1] == "install-kernel":
    install_kernel(sys.argv[2:])
else:
    main()
