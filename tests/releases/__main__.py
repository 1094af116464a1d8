"""Write the data of the current version: ``python -m tests.releases``, once at each release."""

from tests.releases.making import make

if __name__ == "__main__":
    print(f"{make()}: written")
